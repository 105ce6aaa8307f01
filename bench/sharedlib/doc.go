// Package sharedlib calls functions of shared libraries that are found at run time, without cgo.
package sharedlib
