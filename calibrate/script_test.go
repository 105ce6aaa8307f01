package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary the calibrate of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"calibrate": main})
}

// TestScripts runs the command line as a user does. $DATA is the folder testdata
// of the repository.
func TestScripts(t *testing.T) {
	data, err := filepath.Abs("../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATA", data)
			env.Setenv("HWCAL_ISA", os.Getenv("HWCAL_ISA"))
			return nil
		},
	})
}

// exits runs calibrate and asks for an exit code: exits CODE ARGS...
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("calibrate", args[1:]...)
	code := "0"
	if coded, ok := err.(interface{ ExitCode() int }); ok {
		code = strconv.Itoa(coded.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("calibrate %q: exit code %s, want %s", args[1:], code, args[0])
	}
}
