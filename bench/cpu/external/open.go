//go:build linux && (amd64 || arm64)

package external

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"hwcal/bench/sharedlib"
)

// environment is what libraries read while they are loaded. Their threads are bound, one to a CPU, as
// our workers are. Those that wait spin for some 0.1 ms: that is long enough for the next call, and
// over before it is another implementation's turn.
func environment(cpus []int) map[string]string {
	places := make([]string, len(cpus))
	for i, cpu := range cpus {
		places[i] = fmt.Sprintf("{%d}", cpu)
	}
	return map[string]string{
		"OPENBLAS_NUM_THREADS":    "1",  // more are started when they are asked for
		"OPENBLAS_THREAD_TIMEOUT": "18", // the logarithm of cycles
		"GOMP_SPINCOUNT":          "2000",
		"OMP_PLACES":              strings.Join(places, ","),
		"OMP_PROC_BIND":           "close",
	}
}

// open loads the first of the names that there is, and fills in its functions. OpenMP binds the
// thread that loads it, which therefore is one that ends behind that.
func open(cpus []int, functions any, names ...string) (lib sharedlib.Library, err error) {
	defer set(environment(cpus))()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if lib, err = sharedlib.Open(names...); err == nil {
			err = lib.Bind(functions)
		}
	}()
	<-done
	return lib, err
}

// set changes the environment; the returned function undoes that.
func set(variables map[string]string) (undo func()) {
	before := map[string]string{}
	for name, value := range variables {
		if had, is := os.LookupEnv(name); is {
			before[name] = had
		}
		_ = os.Setenv(name, value) // a name that can be set
	}
	return func() {
		for name := range variables {
			_ = os.Unsetenv(name)
		}
		for name, value := range before {
			_ = os.Setenv(name, value)
		}
	}
}
