package cpu

// clockChains are of one cycle each. A multiplication takes 2 to 4 cycles,
// depending on the core, and cannot serve.
var clockChains = []clockChain{
	{"add", 1, chainAdd},
	{"eor", 1, chainXor},
}

// for range iters { 1024 times: x += y }
func chainAdd(iters int)

// for range iters { 1024 times: x ^= y }
func chainXor(iters int)
