//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hwcal/bench/cpu"
	"hwcal/hwdetect"
	"hwcal/schema"
)

func main() {
	if err := peers(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func peers(args []string) error {
	flags := flag.NewFlagSet("peers", flag.ExitOnError)
	cases := flags.String("cases", "", "measure only the cases that match this regular `expression`, such as 'matmul fp32'")
	threads := flags.String("threads", "", "`numbers` of threads, such as 1,2 (default: one, and all)")
	rounds := flags.Int("rounds", 10, "rounds of each case")
	budget := flags.Duration("budget", time.Second, "time for a case, after which its rounds end early, though not before the third")
	only := flags.String("peers", "", "ask only these `peers` of "+strings.Join(peerNames(), ","))
	serving := flags.String("serve", "", "be the process of this `library`; for internal use")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *serving != "" {
		return serve(*serving, os.Stdin, os.Stdout)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; -cases %[1]s chooses cases", flags.Arg(0))
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: want 1 at least", *rounds)
	}
	match, err := regexp.Compile(*cases)
	if err != nil {
		return fmt.Errorf("-cases: %w", err)
	}
	known, err := plan(1)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(k testCase) bool { return match.MatchString(k.String()) }) {
		return fmt.Errorf("-cases %s: no case matches; one is %q", match, known[0])
	}
	wanted, err := selectPeers(*only)
	if err != nil {
		return err
	}
	machine, err := hwdetect.This().Detect(hwdetect.Options{})
	if err != nil {
		return err
	}
	dev := machine.Devices[0]
	counts, err := threadCounts(*threads, len(dev.CPU.UsedCPUs))
	if err != nil {
		return err
	}
	backends, err := newBackends(dev)
	if err != nil {
		return err
	}
	dir, err := newExchange()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	removeOnInterrupt(dir)
	debug.SetGCPercent(-1) // collected between cases
	for _, n := range counts {
		c := comparer{backends: backends, threads: n, dir: dir, rounds: *rounds, budget: *budget}
		if err := c.all(match, wanted, dev.CPU.UsedCPUs[:n]); err != nil {
			return err
		}
	}
	return nil
}

// removeOnInterrupt ends the program without leaving the folder, which may hold
// hundreds of megabytes of memory. A broken pipe may be that of a peer that ended, which costs its cases only.
func removeOnInterrupt(dir string) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	go func() {
		for s := range interrupts {
			if s == unix.SIGPIPE && !closed(os.Stdout) && !closed(os.Stderr) {
				continue
			}
			os.RemoveAll(dir)
			os.Exit(128 + int(s.(unix.Signal)))
		}
	}()
}

// closed says whether nobody reads a pipe any more.
func closed(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLERR != 0
}

// newBackends makes the backend of this machine, and one for each instruction set
// that it has.
func newBackends(dev schema.Device) (map[cpu.ISA]*cpu.Backend, error) {
	isas, err := cpu.ISAs()
	if err != nil {
		return nil, err
	}
	best, err := cpu.New(dev)
	if err != nil {
		return nil, err
	}
	all := map[cpu.ISA]*cpu.Backend{"": best}
	const limit = cpu.LimitVariable
	defer os.Setenv(limit, os.Getenv(limit))
	for _, isa := range isas {
		if err := os.Setenv(limit, string(isa)); err != nil {
			return nil, err
		}
		if all[isa], err = cpu.New(dev); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// threadCounts reads "1,2"; without it, one thread and all.
func threadCounts(list string, all int) ([]int, error) {
	if list == "" {
		return slices.Compact([]int{1, all}), nil
	}
	var counts []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > all {
			return nil, fmt.Errorf("-threads %s: want numbers from 1 to %d", list, all)
		}
		counts = append(counts, n)
	}
	return counts, nil
}
