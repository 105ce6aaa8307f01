package bench

import (
	"slices"
	"strings"
	"time"
)

// side is one of the two of a pair: what it executes, in order.
type side []part

// part is a chain of which only the output has to be right, and the kernels that compute it.
type part struct {
	chain   Chain
	kernels []Kernel
}

// unfusedSide has a kernel of each operation.
func unfusedSide(ws Workspace, c Case) (side, error) {
	ks, err := bindEach(ws, c.Chain)
	if err != nil || c.Parts == nil {
		return side{{c.Chain, ks}}, err
	}
	var s side
	for i, k := range ks {
		s = append(s, part{c.Chain[i : i+1], []Kernel{k}})
	}
	return s, nil
}

func bindEach(ws Workspace, c Chain) ([]Kernel, error) {
	var ks []Kernel
	for i := range c {
		k, err := ws.Bind(c[i : i+1])
		if err != nil {
			return nil, err
		}
		ks = append(ks, k)
	}
	return ks, nil
}

// fusedSide has one kernel of the whole chain, or one of each part.
func fusedSide(ws Workspace, c Case) (side, error) {
	parts := c.Parts
	if parts == nil {
		parts = Parts{c.Chain}
	}
	var s side
	for _, chain := range parts {
		k, err := ws.Bind(chain)
		if err != nil {
			return nil, err
		}
		s = append(s, part{chain, []Kernel{k}})
	}
	return s, nil
}

// kernels are those of all parts.
func (s side) kernels() []Kernel {
	var ks []Kernel
	for _, p := range s {
		ks = append(ks, p.kernels...)
	}
	return ks
}

// implementation names the kernels, each once.
func (s side) implementation() string {
	var names []string
	for _, k := range s.kernels() {
		if name := k.Implementation(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// parts are the chains, without their kernels.
func (s side) parts() Parts {
	var all Parts
	for _, p := range s {
		all = append(all, p.chain)
	}
	return all
}

// verifySides verifies both sides against the same reference; or each part of both against that of what
// it has read. It returns the largest absolute difference, and how long a run of each side took.
func verifySides(ws Workspace, c Case, sides []side) (worst float64, took []time.Duration, err error) {
	var want expectation
	for i, s := range sides {
		took = append(took, 0)
		for _, p := range s {
			of := c
			of.Chain, of.Parts = p.chain, nil
			if i == 0 || c.Parts != nil {
				want = expect(ws, of, verifyWork*min(1, verifyParts/float64(len(s))))
			}
			diff, t, err := verify(ws, of, p.kernels, want)
			if err != nil {
				return worst, took, err
			}
			worst, took[i] = max(worst, diff), took[i]+t
		}
	}
	return worst, took, nil
}
