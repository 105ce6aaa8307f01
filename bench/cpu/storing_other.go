//go:build !amd64

package cpu

func canStorePast(ISA) bool { return false }

func canPace(ISA) bool { return false }

func storeFence() {}
