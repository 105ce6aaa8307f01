//go:build linux && (amd64 || arm64) && !cu

package cuda

// openDriver loads the driver of that name.
func openDriver(name string) (Driver, error) { return loadDriver(name) }
