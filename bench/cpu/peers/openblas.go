//go:build linux

package main

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

func loadOpenBLAS() (library, string, error) {
	var cpus unix.CPUSet // before the library is loaded: OpenMP, if it was built with that, binds this thread
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		return nil, "", err
	}
	if err := setenv("OPENBLAS_NUM_THREADS", "1"); err != nil {
		return nil, "", err
	}
	lib, err := dlopen("libopenblas.so.0", "libopenblas.so")
	if err != nil {
		return nil, "", err
	}
	var config, core func() string
	var setThreads func(n int)
	if err := lib.bind(map[string]any{
		"openblas_get_config": &config, "openblas_get_corename": &core, "openblas_set_num_threads": &setThreads,
	}); err != nil {
		return nil, "", err
	}
	var c cblas
	version := strings.Fields(config() + " ? ?")[1] // "OpenBLAS 0.3.21 NO_LAPACKE ..."
	label := "OpenBLAS " + version + ", kernels for " + core()
	return &c, label, errors.Join(c.load(lib), startThreads(cpus, setThreads))
}

// startThreads adds the threads one at a time, each to its CPU, as OpenBLAS binds none: a new one
// inherits the CPUs of the thread that starts it.
func startThreads(cpus unix.CPUSet, setThreads func(n int)) error {
	var list []int
	for cpu := 0; len(list) < cpus.Count(); cpu++ {
		if cpus.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	for i, cpu := range list[1:] {
		if err := bindTo(cpu); err != nil {
			return err
		}
		setThreads(i + 2)
	}
	return bindTo(list[0]) // which is the first of them
}

// bindTo binds this thread.
func bindTo(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}
