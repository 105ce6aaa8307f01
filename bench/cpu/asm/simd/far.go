package simd

// What memory sends is fetched far ahead, into L2, and what is loaded is waited for, some lines of each stream at a
// time. Else the loads behind overtake what is fetched for them, and each holds one of the few buffers that all lines
// need which come into L1, or pass the caches, for as long as memory takes. One thread of a Zen 4 copies 52 GB/s so past
// the caches, and 43 otherwise.
//
// The distance is no whole number of pages: a Zen 4 fetches half as fast what then is at the same offset in a page as
// what is stored.
const (
	FarDistance = 10240 // bytes
	FarLines    = 8
)

// MatrixDistance is that in bytes of what is read once, a matrix in memory: as much as a core reads in the latency of
// memory, and again. Neither it nor twice as much are whole pages: a Zen 4 ran softmax at 38 GB/s with 8192 and
// rows of 4096, and runs it at 45.
const MatrixDistance = 13312

// TilesAhead is the distance in bytes at which a matrix is fetched that is joined to sums, a tile at a time: as many tiles
// of 32 halves as are summed before they are joined, and a few more. A Zen 4 multiplies 512x1024x1024 in bf16, and adds a
// bias and a residual, in 1% less time so.
const TilesAhead = 512
