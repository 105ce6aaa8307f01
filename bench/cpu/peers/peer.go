//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// errUnsupported: the peer does not have what the case asks for.
var errUnsupported = errors.New("unsupported")

// peer is a library or a program to compare with.
type peer struct {
	name string
	// command of its process; it may leave files in the folder.
	command func(dir string) (*exec.Cmd, error)
	hint    string // how to get it
}

// allPeers in the order of the columns.
var allPeers = []peer{
	{"openblas", self("openblas"), "libopenblas-dev"},
	{"blis", self("blis"), "libblis-dev"},
	{"onednn", self("onednn"), "libdnnl-dev"},
	{"torch", torch, "the CPU build of PyTorch 2 for $PYTHON (default python3)"},
	{"c", plainC, "a C compiler"},
}

// self runs this program as the process of a library.
func self(library string) func(string) (*exec.Cmd, error) {
	return func(string) (*exec.Cmd, error) {
		program, err := os.Executable()
		return exec.Command(program, "-serve", library), err
	}
}

func peerNames() []string {
	names := make([]string, len(allPeers))
	for i, p := range allPeers {
		names[i] = p.name
	}
	return names
}

// selectPeers reads "openblas,onednn"; without it, all.
func selectPeers(list string) ([]peer, error) {
	if list == "" {
		return allPeers, nil
	}
	var some []peer
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(peerNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("-peers: no %q, want some of %s", name, strings.Join(peerNames(), ","))
		}
		some = append(some, allPeers[i])
	}
	return some, nil
}

// process is a peer that runs.
type process struct {
	peer
	label   string // with version and the kernels that it chose
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
	ended   bool // by itself: libraries abort
}

// start runs the peer on the CPUs and waits until it has said what it is.
func (p peer) start(dir string, cpus []int) (*process, error) {
	cmd, err := p.command(dir)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), threadSettings(len(cpus))...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(cmd, cpus); err != nil {
		return nil, err
	}
	r := &process{peer: p, cmd: cmd, in: in, answers: bufio.NewScanner(out)}
	if r.label, err = r.answer(); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// threadSettings give each library n threads, bound where it can bind them. Those
// that wait stop spinning after some 0.1 ms: long enough for the next call, and
// over before another peer's turn begins. What is allocated for results is kept for the
// next ones: fresh pages would be what is measured.
func threadSettings(n int) []string {
	threads := strconv.Itoa(n)
	return []string{
		"OMP_NUM_THREADS=" + threads, "OPENBLAS_NUM_THREADS=" + threads, "BLIS_NUM_THREADS=" + threads,
		"OMP_PROC_BIND=true", "GOMP_SPINCOUNT=2000", "OPENBLAS_THREAD_TIMEOUT=18",
		"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=1099511627776", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
	}
}

// startOn starts the command bound to the CPUs, which it inherits from a thread
// that then ends.
func startOn(cmd *exec.Cmd, cpus []int) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			started <- err
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}

// answer reads one answer.
func (p *process) answer() (string, error) {
	if !p.answers.Scan() {
		p.ended = true
		return "", errors.New("its process ended")
	}
	switch word, rest, _ := strings.Cut(p.answers.Text(), " "); word {
	case "ok":
		return rest, nil
	case "unsupported":
		return "", errUnsupported
	default:
		return "", errors.New(rest)
	}
}

// open prepares a case; files are its output and inputs.
func (p *process) open(c testCase, files []string) error {
	fmt.Fprintln(p.in, "open", c.kind, c.dtype, c.dims, strings.Join(files, " "))
	_, err := p.answer()
	return err
}

// run returns the seconds that n executions take.
func (p *process) run(n int) (float64, error) {
	fmt.Fprintln(p.in, "run", n)
	seconds, err := p.answer()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(seconds, 64)
}

// stop ends the process.
func (p *process) stop() {
	p.in.Close()
	_ = p.cmd.Wait() // whatever it ended with, it is over
}
