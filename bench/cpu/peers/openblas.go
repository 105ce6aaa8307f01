//go:build linux

package main

import "strings"

func loadOpenBLAS() (library, string, error) {
	lib, err := dlopen("libopenblas.so.0", "libopenblas.so")
	if err != nil {
		return nil, "", err
	}
	var config, core func() string
	if err := lib.bind(map[string]any{"openblas_get_config": &config, "openblas_get_corename": &core}); err != nil {
		return nil, "", err
	}
	var c cblas
	version := strings.Fields(config() + " ? ?")[1] // "OpenBLAS 0.3.21 NO_LAPACKE ..."
	return &c, "OpenBLAS " + version + ", kernels for " + core(), c.load(lib)
}
