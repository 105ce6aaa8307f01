package cpu

// clockChains have the latency that every amd64 core of the last decade has: 1
// for an addition, 3 for a 32-bit multiplication. (One of 64 bits takes 4 on Zen 1 and Skymont, and
// 5 on Gracemont.)
var clockChains = []clockChain{
	{"add", 1, chainAdd},
	{"imul", 3, chainMul},
}

// for range iters { 1024 times: x += y }
func chainAdd(iters int)

// for range iters { 1024 times: x *= y }, in 32 bits
func chainMul(iters int)
