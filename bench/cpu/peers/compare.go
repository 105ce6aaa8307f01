//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"hwcal/bench"
	"hwcal/bench/cpu"
)

// minBatch is the least time of a timed batch, minRounds the least number of
// rounds of a case that outlasts its budget.
const (
	minBatch  = 10 * time.Millisecond
	minRounds = 3
)

// comparer compares on one number of threads.
type comparer struct {
	backends map[cpu.ISA]*cpu.Backend // "" is the best
	threads  int
	dir      string // of the files with inputs and results
	rounds   int
	budget   time.Duration
}

// side is one of those that take turns.
type side struct {
	name  string
	run   func(n int) (seconds float64, err error)
	work  float64
	n     int       // executions in a batch
	rates []float64 // of each round
}

// result is what a case gave: our rates, those of our register peak and those of
// the peers, by round.
type result struct {
	testCase
	ours  *side
	peak  *side // nil for cases that have no FLOP, or nothing else
	peers []*side
}

// all compares all cases with the peers that there are.
func (c comparer) all(match *regexp.Regexp, wanted []peer, cpus []int) error {
	cases, err := plan(c.threads)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(k testCase) bool { return !match.MatchString(k.String()) })
	fmt.Printf("\n%d threads on CPUs %v\n", c.threads, cpus)
	var running []*process
	for _, p := range wanted {
		r, err := p.start(c.dir, cpus)
		if err != nil {
			fmt.Printf("  %s: %v; it needs %s\n", p.name, err, p.hint)
			continue
		}
		defer r.stop()
		fmt.Printf("  %s\n", r.label)
		running = append(running, r)
	}
	var results []result
	printed := 0
	lacking := map[string]bool{} // kernels of ours
	for i, k := range cases {
		fmt.Fprintf(os.Stderr, "%d threads: %s\n", c.threads, k)
		r, err := c.compare(k, running)
		switch {
		case errors.Is(err, bench.ErrUnsupported):
			lacking[fmt.Sprintf("%s %s", k.group, k.dtype)] = true
		case err != nil:
			fmt.Printf("  %s: %v\n", k, err)
		case len(r.peers) > 0:
			results = append(results, r)
		}
		if last := i == len(cases)-1; last || cases[i+1].group != k.group {
			printGroup(results[printed:], c.threads)
			printed = len(results)
		}
		runtime.GC()
	}
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		fmt.Printf("  we have no kernel for %s here\n", name)
	}
	printSummary(results, c.threads)
	return nil
}

// compare measures one case.
func (c comparer) compare(k testCase, running []*process) (result, error) {
	out := result{testCase: k}
	peak := registerPeak(c.threads)
	parts := k.pattern.Parts(k.chain, k.dtype, c.backends[k.isa])
	all := bench.Case{
		Chain: append(k.chain[:len(k.chain):len(k.chain)], peak),
		DType: k.dtype, Place: bench.Place{Threads: c.threads}, Seed: 1,
	}
	if parts != nil {
		all.Parts = append(parts[:len(parts):len(parts)], bench.Chain{peak})
	} else {
		parts = bench.Parts{k.chain}
	}
	ws, err := c.backends[k.isa].Open(all)
	if err != nil {
		return out, err
	}
	defer ws.Close()
	if out.ours, err = ourSide(ws, parts, k.work); err != nil {
		return out, err
	}
	sides := []*side{out.ours}
	var want []float64
	var files []string
	if k.shared {
		if out.peak, err = ourSide(ws, bench.Parts{{peak}}, float64(peak.FLOP)); err != nil {
			return out, err
		}
		sides = append(sides, out.peak)
		if want, files, err = share(c.dir, ws, k, out.ours); err != nil {
			return out, err
		}
	}
	for _, p := range running {
		if p.ended {
			continue
		}
		err := p.open(k, files)
		if err == nil && k.shared && !k.random {
			err = agrees(files[0], want, k)
		}
		if errors.Is(err, errUnsupported) {
			continue
		}
		if err != nil {
			fmt.Printf("  %s, %s: %v\n", p.name, k, err)
			continue
		}
		s := &side{name: p.name, run: p.run, work: k.work}
		out.peers = append(out.peers, s)
		sides = append(sides, s)
	}
	if len(out.peers) == 0 {
		return out, nil
	}
	return out, c.takeTurns(sides)
}

// share computes our result, and writes the files for the peers.
func share(dir string, ws bench.Workspace, k testCase, ours *side) (want []float64, files []string, err error) {
	if _, err := ours.run(1); err != nil {
		return nil, nil, err
	}
	if want, err = readTensor(ws, k.chain.Output()); err != nil {
		return nil, nil, err
	}
	files, err = writeInputs(dir, ws, k)
	return want, files, err
}

// ourSide binds a kernel of each part.
func ourSide(ws bench.Workspace, parts bench.Parts, work float64) (*side, error) {
	var ks []bench.Kernel
	for _, chain := range parts {
		k, err := ws.Bind(chain)
		if err != nil {
			return nil, err
		}
		ks = append(ks, k)
	}
	return &side{name: "ours", work: work, run: func(n int) (float64, error) {
		if _, err := bench.Sample(ws, ks, n); err != nil {
			return 0, err
		}
		t, err := bench.Sample(ws, ks, n)
		return t.Seconds(), err
	}}, nil
}

// agrees holds the result that a peer wrote against ours.
func agrees(file string, want []float64, k testCase) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return disagreement(want, decode(data, k.dtype), k)
}

// takeTurns times batches of all sides in rounds, each beginning with another side.
func (c comparer) takeTurns(sides []*side) error {
	for _, s := range sides {
		if err := s.size(); err != nil {
			return err
		}
	}
	begin := time.Now()
	for round := range c.rounds {
		if round >= minRounds && time.Since(begin) > c.budget {
			break
		}
		for i := range sides {
			s := sides[(round+i)%len(sides)]
			seconds, err := s.run(s.n)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.rates = append(s.rates, s.work*float64(s.n)/seconds)
		}
	}
	return nil
}

// size finds how many executions make a batch.
func (s *side) size() error {
	for s.n = 1; ; {
		seconds, err := s.run(s.n)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if seconds >= minBatch.Seconds() {
			return nil
		}
		// A tenth more, as the first executions are slower than those that follow.
		grown := math.Ceil(1.1 * float64(s.n) * minBatch.Seconds() / max(seconds, 1e-9))
		s.n = int(min(grown, 100*float64(s.n)))
	}
}
