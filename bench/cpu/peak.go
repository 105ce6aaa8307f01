package cpu

// peakKernel repeats x <- 0.5x + 1 on independent accumulators in registers. All
// converge to 2, from wherever they start. Where the instruction adds to a register, and cannot
// multiply what it adds to by another, a step takes two: x <- x + 2, and x <- x - 0.5x.
type peakKernel[T float] struct {
	name        string
	accs        int // elements of acc
	flopPerIter int
	// run makes iters iterations from and to the first accs elements of acc.
	run func(iters int, acc []T)
}

// peakCall is the number of iterations of one assembly call: at most 48 FMA
// each, a millisecond or less.
const peakCall = 1 << 16

// peakFrom makes a kernel of an assembly function, which takes so many FMA for each step
// of an accumulator. The constants are its arguments.
func peakFrom[T float](name string, accs, fmas int, f func(iters int, acc *T, half, one T)) peakKernel[T] {
	return peakKernel[T]{name, accs, 2 * fmas * accs, func(iters int, acc []T) {
		acc = acc[:accs]
		for ; iters > 0; iters -= peakCall {
			f(min(iters, peakCall), &acc[0], 0.5, 1)
		}
	}}
}

func portablePeak[T float]() peakKernel[T] {
	return peakKernel[T]{"peak_12_portable", 12, 24, peakPortable[T]}
}

// peakPortable multiplies and adds as the portable kernels do: in two
// instructions, or in one where the Go compiler fuses them (arm64, ppc64, s390x,
// riscv64, and amd64 from GOAMD64=v3).
func peakPortable[T float](iters int, acc []T) {
	acc = acc[:12]
	half, one := T(0.5), T(1)
	x0, x1, x2, x3 := acc[0], acc[1], acc[2], acc[3]
	x4, x5, x6, x7 := acc[4], acc[5], acc[6], acc[7]
	x8, x9, xa, xb := acc[8], acc[9], acc[10], acc[11]
	for range iters {
		x0 = x0*half + one
		x1 = x1*half + one
		x2 = x2*half + one
		x3 = x3*half + one
		x4 = x4*half + one
		x5 = x5*half + one
		x6 = x6*half + one
		x7 = x7*half + one
		x8 = x8*half + one
		x9 = x9*half + one
		xa = xa*half + one
		xb = xb*half + one
	}
	acc[0], acc[1], acc[2], acc[3] = x0, x1, x2, x3
	acc[4], acc[5], acc[6], acc[7] = x4, x5, x6, x7
	acc[8], acc[9], acc[10], acc[11] = x8, x9, xa, xb
}
