package cpu

// streamKernels are the kernels of one family.
func streamKernels(isa ISA) []streamKernel {
	if isa != NEON {
		return portableStream
	}
	return assembled(streamAssembly{
		read: streamReadNEON, write: streamWriteNEON, writeNT: streamWriteNTNEON,
		copy: streamCopyNEON, copyNT: streamCopyNTNEON, scale: streamScaleNEON,
		add: streamAddNEON, triad: streamTriadNEON, triadNT: streamTriadNTNEON,
	})
}

// The kernels below stand for
//
//	for range reps {
//		for i := range n {
//			...
//		}
//	}
//
// with the statement that their comment gives; reps is at least 1. The reading one shifts its sum left by a
// bit before each pass. Those with NT in their names store pairs of vectors by STNP, a hint that they will
// not be read soon: what the core makes of it is its own affair, and the order of the stores stays that of
// others.

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadNEON(reps, n int, a *float64) (sum uint64)

// a[i] = s
//
//go:noescape
func streamWriteNEON(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNEON(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleNEON(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddNEON(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNEON(reps, n int, a, b, c *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteNTNEON(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTNEON(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTNEON(reps, n int, a, b, c *float64, s float64)
