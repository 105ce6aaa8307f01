//go:build linux

package main

import (
	"strings"
	"testing"
)

// What the flags do not say must not start minutes of measuring, or none at all.
func TestFlagsThatMakeNoSense(t *testing.T) {
	const none = "0" // threads, so that nothing is measured in any event
	for want, args := range map[string][]string{
		"matmul":        {"-threads", none, "matmul"},
		"-rounds 0":     {"-threads", none, "-rounds", "0"},
		"-cases nosuch": {"-threads", none, "-cases", "nosuch"},
		"-peers":        {"-threads", none, "-peers", "mkl"},
		"-threads 0":    {"-threads", none},
	} {
		if err := peers(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want what names %s", args, err, want)
		}
	}
}
