package cuda

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"hwcal/bench"
	"hwcal/schema"
)

func init() {
	fp64 := []schema.DType{schema.FP64}
	for _, s := range bench.Streams {
		register("stream_"+s.Name, entry{provider: own, dtypes: fp64, bind: bindStream})
	}
	register("pointer_chase", entry{provider: own, dtypes: fp64, bind: bindChase})
	for _, chain := range []string{"host_to_device", "device_to_host"} {
		register(chain, entry{provider: own, dtypes: fp64, bind: bindTransfer})
	}
	register("empty", entry{provider: own, dtypes: []schema.DType{schema.FP32}, bind: bindEmpty})
}

// mostGridY is the number of blocks along y that a launch may have.
const mostGridY = 65535

// streamThreads of a block, as in stream.cu.
const streamThreads = 256

// bindStream gives each block a part of the arrays. A single copy may be the driver's own, if that is faster.
func bindStream(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	p := op.Params.(bench.StreamParams)
	n := op.Out.Elems()
	if p.Checksum {
		n = op.In[0].Elems()
	}
	var in [2]Arg
	for i, t := range op.In {
		in[i] = ws.pointer(t)
	}
	blocks := [3]int{streamParts(op)}
	if writesOnly(op) {
		// Each pass has blocks of its own, so that no SM is idle before the last pass. Kernels that read do not: L2 would
		// hold their arrays twice, once for each half of the SMs.
		blocks[1] = int(min(p.Passes, mostGridY))
	}
	k, err := ws.oursIn(Unit{Source: "stream"}, op.Name, Grid{Blocks: blocks, Threads: [3]int{streamThreads}},
		ws.pointer(op.Out), in[0], in[1], Long(n), Long(p.Passes), Double(p.Scalar))
	if err != nil || op.Name != "stream_copy" || p.Passes > 1 || ws.only != "" {
		return k, err
	}
	return ws.fastestOf(k, ws.driverCopy(op))
}

// driverCopy is a copy of an array by the driver: by its copy engine from or to the host, by a kernel within the device.
func (ws *workspace) driverCopy(op bench.Op) *kernel {
	from, to := ws.of(op.In[0]), ws.of(op.Out)
	return &kernel{name: "cuMemcpyAsync", enqueue: func() error {
		return ws.context.Copy(to.address, from.address, from.bytes())
	}}
}

func writesOnly(op bench.Op) bool { return len(op.In) == 0 }

// streamParts is the number of parts of the arrays, and of blocks in a pass. A checksum has a sum for each part. Kernels
// that only write give each thread four pairs of elements, in any pass. A single pass that reads gives it one pair, or in four
// streams has parts an eighth as large as usual, so that the last blocks, beside which SMs are idle, are a small share of
// all. Several passes that read have large parts: a block would find a small one in L2 when it comes back to it.
func streamParts(op bench.Op) int {
	const finer, each = 8, 4 // as in stream.cu
	p := op.Params.(bench.StreamParams)
	switch {
	case p.Checksum:
		return int(op.Out.Elems())
	case p.Passes > 1 && !writesOnly(op):
		return bench.Place{}.Parts()
	case strings.HasSuffix(op.Name, "4"):
		return finer * bench.Place{}.Parts()
	}
	fine := int64(2 * streamThreads)
	if writesOnly(op) {
		fine *= each
	}
	return int(divideUp(op.Out.Elems(), fine))
}

// lineBytes lie between the addresses of a chase.
const lineBytes = 64

// bindChase writes into each line the address of another, so that they form one cycle in random
// order (Sattolo's algorithm).
func bindChase(ws *workspace, c bench.Chain) (*kernel, error) {
	op := c[0]
	chain := ws.of(op.Out)
	mem := make([]byte, chain.bytes())
	lines := len(mem) / lineBytes
	next := make([]uint32, lines)
	for i := range next {
		next[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(ws.seed, uint64(lines)))
	for i := lines - 1; i > 0; i-- {
		j := random.IntN(i)
		next[i], next[j] = next[j], next[i]
	}
	for i, to := range next {
		binary.NativeEndian.PutUint64(mem[i*lineBytes:], uint64(chain.address)+uint64(to)*lineBytes)
	}
	if err := ws.context.Upload(chain.address, mem); err != nil {
		return nil, err
	}
	follow := func(loads int64) (*kernel, error) {
		at, err := ws.upload(binary.NativeEndian.AppendUint64(nil, uint64(chain.address)))
		if err != nil {
			return nil, err
		}
		return ws.oursIn(Unit{Source: "chase"}, "chase", Grid{}, Pointer(at), Long(loads))
	}
	if chain.bytes() <= ws.backend.l2 {
		// It shall be in L2: quick samples are over before the cycle comes to a line again.
		cycle, err := follow(int64(lines))
		if err == nil {
			err = cycle.enqueue()
		}
		if err != nil {
			return nil, err
		}
	}
	return follow(op.Params.(bench.ChaseParams).Loads)
}

// bindTransfer moves an array between the host and the device.
func bindTransfer(ws *workspace, c bench.Chain) (*kernel, error) {
	from, to := ws.of(c[0].In[0]), ws.of(c[0].Out)
	if from.bytes() != to.bytes() {
		return nil, fmt.Errorf("%d bytes into %d: %w", from.bytes(), to.bytes(), bench.ErrUnsupported)
	}
	return ws.driverCopy(c[0]), nil
}

func bindEmpty(ws *workspace, _ bench.Chain) (*kernel, error) {
	return ws.oursIn(Unit{Source: "empty"}, "empty", Grid{})
}
