package cpu

// clockChains have the latency that every amd64 core of the last decade has: 1
// for an addition, 3 for a 32-bit multiplication. (One of 64 bits takes 4 on Zen 1 and Skymont, and
// 5 on Gracemont.)
var clockChains = []clockChain{
	{"add+imul+add", 5, chainAddMul},
	{"imul", 3, chainMul},
}

// for range iters { 1024 times: x += y, x *= y in 32 bits, x += y }
func chainAddMul(iters int)

// for range iters { 1024 times: x *= y }, in 32 bits
func chainMul(iters int)
