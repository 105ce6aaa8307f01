//go:build !linux

package external

import "testing"

func allowedCPUs(*testing.T) []int { return []int{0} }
