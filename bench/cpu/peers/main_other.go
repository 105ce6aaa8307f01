//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "peers: only Linux lets us bind all sides to the same CPUs")
	os.Exit(1)
}
