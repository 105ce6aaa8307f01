package cpu

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// errNoClock says that this architecture has no chain of known latency.
var errNoClock = errors.New("cpu: no clock chain for this architecture")

const (
	clockSample  = 40 * time.Microsecond
	clockRounds  = 3 // samples of each chain in one try
	clockTries   = 6
	clockAgree   = 0.01
	chainLinks   = 1024 // of one iteration
	assumedClock = 3e9  // Hz, for the length of a sample
)

// clockChain is a loop of dependent instructions of known latency.
type clockChain struct {
	name   string
	cycles int // an instruction
	run    func(iters int)
}

// effectiveClock is the frequency in MHz that the calling thread's core runs at,
// by two chains of instructions of known latency, which have to agree. The
// fastest of several short samples counts, as an interruption only lengthens
// one. It takes 0.25 ms, and up to 1.5 ms while the chains disagree.
//
// A core that lowers its clock for wide vectors keeps it low for a while (Intel:
// about 0.7 ms) after the last of them, so that a call straight after a kernel
// reads the clock of that kernel.
func effectiveClock() (mhz float64, err error) {
	if len(clockChains) < 2 {
		return 0, errNoClock
	}
	a, b := clockChains[0], clockChains[1]
	var inA, inB float64
	for range clockTries {
		inA, inB = 0, 0
		for range clockRounds {
			inA = max(inA, a.sample())
			inB = max(inB, b.sample())
		}
		if math.Abs(inA-inB) <= clockAgree*inA {
			return max(inA, inB), nil
		}
	}
	return 0, fmt.Errorf("cpu: clock chains disagree: %s %.0f MHz, %s %.0f MHz", a.name, inA, b.name, inB)
}

// sample is the frequency in MHz during one short run.
func (c clockChain) sample() float64 {
	iters := int(assumedClock * clockSample.Seconds() / float64(chainLinks*c.cycles))
	begin := now()
	c.run(iters)
	elapsed := now().Sub(begin)
	return float64(iters*chainLinks*c.cycles) / elapsed.Seconds() / 1e6
}
