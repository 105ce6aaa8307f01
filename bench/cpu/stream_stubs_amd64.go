package cpu

// The kernels below stand for
//
//	for range reps {
//		for i := range n {
//			...
//		}
//	}
//
// with the statement that their comment gives; reps is at least 1. Those with NT
// in their names use non-temporal stores and end with a store fence, those with Ahead
// fetch ahead into L1, those with Far into L2. Those that read shift their sum left by a bit before each pass.

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadAVX2(reps, n int, a *float64) (sum uint64)

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadAVX512(reps, n int, a *float64) (sum uint64)

// a[i] = s
//
//go:noescape
func streamWriteAVX2(reps, n int, a *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteAVX512(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyAVX512(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleAVX2(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteNTAVX2(reps, n int, a *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteNTAVX512(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTAVX512(reps, n int, a, b, c *float64, s float64)

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadAheadAVX2(reps, n int, a *float64) (sum uint64)

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadAheadAVX512(reps, n int, a *float64) (sum uint64)

// a[i] = s
//
//go:noescape
func streamWriteAheadAVX2(reps, n int, a *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteAheadAVX512(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyAheadAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyAheadAVX512(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleAheadAVX2(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleAheadAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddAheadAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddAheadAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadAheadAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadAheadAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTAheadAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTAheadAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTAheadAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTAheadAVX512(reps, n int, a, b, c *float64, s float64)

// The kernels of four streams stand for
//
//	for i := range n {
//		for j := range 4 {
//			...
//		}
//	}
//
// n is a multiple of 16, stride counts bytes, and a is aligned to 64 bytes.

// sum ^= math.Float64bits(a[i+j*stride/8])
//
//go:noescape
func streamRead4AVX2(n, stride int, a *float64) (sum uint64)

// sum ^= math.Float64bits(a[i+j*stride/8])
//
//go:noescape
func streamRead4AVX512(n, stride int, a *float64) (sum uint64)

// a[i+j*stride/8] = b[i+j*stride/8]
//
//go:noescape
func streamCopyNT4AVX2(n, stride int, a, b *float64)

// a[i+j*stride/8] = b[i+j*stride/8]
//
//go:noescape
func streamCopyNT4AVX512(n, stride int, a, b *float64)

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadFarAVX2(reps, n int, a *float64) (sum uint64)

// sum ^= math.Float64bits(a[i])
//
//go:noescape
func streamReadFarAVX512(reps, n int, a *float64) (sum uint64)

// a[i] = s
//
//go:noescape
func streamWriteFarAVX2(reps, n int, a *float64, s float64)

// a[i] = s
//
//go:noescape
func streamWriteFarAVX512(reps, n int, a *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyFarAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyFarAVX512(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleFarAVX2(reps, n int, a, b *float64, s float64)

// a[i] = s * b[i]
//
//go:noescape
func streamScaleFarAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddFarAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + c[i]
//
//go:noescape
func streamAddFarAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadFarAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadFarAVX512(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTFarAVX2(reps, n int, a, b *float64, s float64)

// a[i] = b[i]
//
//go:noescape
func streamCopyNTFarAVX512(reps, n int, a, b *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTFarAVX2(reps, n int, a, b, c *float64, s float64)

// a[i] = b[i] + s*c[i]
//
//go:noescape
func streamTriadNTFarAVX512(reps, n int, a, b, c *float64, s float64)
