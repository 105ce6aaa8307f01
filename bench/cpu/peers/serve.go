//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"hwcal/schema"
)

// library is one that is loaded into this process.
type library interface {
	// open prepares a case. It fails with errUnsupported if there is no such call.
	open(r request) (task, error)
}

// request is a case with its operands in memory.
type request struct {
	kind  string
	dtype schema.DType
	dims  []int
	in    []buffer
	out   buffer
}

// task computes the case.
type task struct {
	run    func()
	finish func() // brings the result into the output; nil if it is there
}

// libraries load themselves and say what they are.
var libraries = map[string]func() (library, string, error){
	"openblas": loadOpenBLAS,
	"blis":     loadBLIS,
	"onednn":   loadOneDNN,
}

// serve answers the requests of the parent process.
func serve(name string, in io.Reader, out io.Writer) error {
	// Pools of OpenMP belong to the thread that calls.
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	lib, label, err := libraries[name]()
	if err != nil {
		fmt.Fprintln(out, "error", err)
		return nil
	}
	fmt.Fprintln(out, "ok", label)
	s := server{lib: lib}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		result, err := s.answer(strings.Fields(lines.Text()))
		switch {
		case errors.Is(err, errUnsupported):
			fmt.Fprintln(out, "unsupported")
		case err != nil:
			fmt.Fprintln(out, "error", err)
		default:
			fmt.Fprintln(out, "ok", result)
		}
	}
	return nil
}

type server struct {
	lib  library
	task task
}

func (s *server) answer(words []string) (string, error) {
	if words[0] == "open" {
		return "", s.open(words[1:])
	}
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return "", err
	}
	for range n { // untimed; see doc.go
		s.task.run()
	}
	begin := time.Now()
	for range n {
		s.task.run()
	}
	return fmt.Sprint(time.Since(begin).Seconds()), nil
}

func (s *server) open(words []string) error {
	freeBuffers()
	dims, err := parseDims(words[2])
	if err != nil {
		return err
	}
	r := request{kind: words[0], dtype: schema.DType(words[1]), dims: dims}
	if len(words) == 3 {
		return errUnsupported // libraries have no such functions: a case without inputs and result
	}
	output, inputs := words[3], words[4:]
	if r.out, err = emptyBuffer(output); err != nil {
		return err
	}
	for _, name := range inputs {
		b, err := readBuffer(name)
		if err != nil {
			return err
		}
		r.in = append(r.in, b)
	}
	if s.task, err = s.lib.open(r); err != nil {
		return err
	}
	s.task.run()
	if s.task.finish != nil {
		s.task.finish()
	}
	return os.WriteFile(output, r.out, 0o600)
}
