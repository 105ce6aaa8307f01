package cpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"hwcal/bench"
	"hwcal/bench/stat"
	"hwcal/schema"
)

// BenchmarkElementwise reports the bandwidth of each element-wise operation as a share
// of that of the stream kernel `copy` (of `read` where the result is an eighth of the input or less)
// on the same working set and threads, in each level of the memory: the median over pairs of
// samples, one right after the other. Transcendental functions take longer than L1 and L2 to
// copy: what binds them there is arithmetic.
func BenchmarkElementwise(b *testing.B) {
	isas, err := ISAs()
	if err != nil {
		b.Fatal(err)
	}
	for _, isa := range isas {
		if isa == Portable && len(isas) > 1 {
			continue
		}
		for _, d := range append([]schema.DType{schema.FP32, schema.FP64}, halfTypes...) {
			backend := halfBackend(b, isa, d)
			for _, level := range []struct {
				name  string
				bytes int64 // of the working set of a thread
			}{{"L1", 16 << 10}, {"L2", 512 << 10}, {"L3", 3 << 20}, {"DRAM", 256 << 20}} {
				for threads := 1; threads <= len(backend.cpus); threads++ {
					b.Run(fmt.Sprintf("%s/%s/%s/%d", isa, d, level.name, threads), func(b *testing.B) {
						shares(b, backend, d, level.bytes*int64(threads), threads)
					})
				}
			}
		}
	}
}

// benchCols is the length of a row.
const benchCols = 1024

// elementwiseOps are all operations of the type, on arrays of that many bytes in all.
func elementwiseOps(d schema.DType, bytes int64) []bench.Op {
	row := func(name string) *bench.Tensor {
		return &bench.Tensor{Name: name, Dims: []int64{benchCols}, Fill: bench.Positive, Param: true}
	}
	matrix := func(name string, arrays int64) *bench.Tensor {
		rows := max(1, bytes/arrays/benchCols/d.Bytes())
		return &bench.Tensor{Name: name, Dims: []int64{1, rows, 1, benchCols}}
	}
	x, y := matrix("X", 2), matrix("Y", 2)
	x3, z3, y3 := matrix("X", 3), matrix("Z", 3), matrix("Y", 3)
	channel := func(name string) *bench.Tensor {
		return &bench.Tensor{Name: name, Dims: x.Dims[1:2], Fill: bench.Positive, Param: true}
	}
	flat := func(t *bench.Tensor) *bench.Tensor {
		return &bench.Tensor{Name: t.Name, Dims: []int64{t.Dims[1], benchCols}}
	}
	ops := []bench.Op{
		bench.ReLU(x), bench.Scale(x, 0.5), bench.Bias(x, row("b")), bench.Mask(x, row("M")),
		bench.BatchNorm(x, channel("gamma"), channel("beta"), channel("mean"), channel("variance"), 1e-5),
		bench.Add(x3, z3), bench.Mul(x3, z3), bench.Sub(x3, z3), bench.Div(x3, z3),
		bench.GELU(x), bench.GELUTanh(x), bench.SiLU(x), bench.Sigmoid(x), bench.Tanh(x), bench.Exp(x),
		bench.Dropout(x, bench.DropoutParams{P: 0.1, Seed: 1}),
		bench.Softmax(x), bench.LayerNorm(x, row("gamma"), row("beta"), 1e-5), bench.RMSNorm(x, row("gamma"), 1e-5),
		bench.Copy(x), bench.Set(y, 3),
	}
	for i := range ops {
		switch {
		case len(ops[i].In) == 0:
		case ops[i].In[0] == x3:
			ops[i].Out = y3
		default:
			ops[i].Out = y
		}
	}
	// What gives other dimensions has tensors of its own.
	z := flat(x)
	labels := &bench.Tensor{Name: "labels", Dims: z.Dims[:1], Fill: bench.Labels(benchCols)}
	indices := &bench.Tensor{Name: "indices", Dims: z.Dims[:1], Fill: bench.Labels(z.Dims[0])}
	ops = append(ops,
		bench.ReduceRows(bench.ReduceSum, z), bench.ReduceRows(bench.ReduceMax, z),
		bench.ReduceCols(bench.ReduceSum, z), bench.ReduceCols(bench.ReduceMax, z),
		bench.MSE(z, flat(y)), bench.CrossEntropy(z, labels), bench.Transpose(z), bench.Concat(flat(x3), flat(z3)))
	ops = append(ops, bench.Embedding(flat(x), indices))
	return slices.DeleteFunc(ops, func(op bench.Op) bool { return !kernels[op.Name].has(d) })
}

// side is one kernel of the comparison.
type side struct {
	body  func(*worker)
	bytes int64     // of an execution
	n     int       // executions of a sample
	rates []float64 // bytes a second, of each sample
	share []float64 // of what was sampled right before
}

// sample gives the bandwidth, of caches that hold what the last execution left.
// Each worker repeats its part without a barrier.
func (s *side) sample(t *team) float64 {
	run := func(n int) time.Duration {
		return t.sample([]sample{{n: n, private: true, bodies: []func(*worker){s.body}}})[0]
	}
	run(1)
	took := run(s.n)
	for ; took < time.Millisecond/2; took = run(s.n) {
		s.n *= 2
	}
	rate := float64(s.bytes) * float64(s.n) / took.Seconds()
	s.rates = append(s.rates, rate)
	return rate
}

func shares(b *testing.B, backend *Backend, d schema.DType, bytes int64, threads int) {
	ops := elementwiseOps(d, bytes)
	opened, err := backend.Open(bench.Case{Chain: ops, DType: d, Place: bench.Place{Threads: threads}, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	ws := opened.(*workspace)
	defer ws.Close()
	var sides []*side
	for _, op := range ops {
		k, err := ws.Bind(bench.Chain{op})
		if err != nil {
			b.Fatal(err)
		}
		sides = append(sides, &side{body: k.(*kernel).body, bytes: bench.Chain{op}.UnfusedBytes(d), n: 1})
	}
	x := ops[0].In[0]
	copies := &side{body: streaming(ws, "copy", ops[0].Out, x), bytes: x.Bytes(d) * 2, n: 1}
	reads := &side{body: streaming(ws, "read", x, x), bytes: x.Bytes(d), n: 1}
	against := func(op bench.Op) (*side, string) {
		if op.Out.Elems() <= x.Elems()/8 {
			return reads, "/read"
		}
		return copies, "/copy"
	}
	for b.Loop() {
		for i, s := range sides {
			peer, _ := against(ops[i])
			limit := peer.sample(ws.team)
			s.share = append(s.share, s.sample(ws.team)/limit)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(copies.rates)/1e9, "GB/s-copy")
	b.ReportMetric(median(reads.rates)/1e9, "GB/s-read")
	for i, s := range sides {
		_, unit := against(ops[i])
		b.ReportMetric(median(s.share), ops[i].Name+unit)
	}
}

func median(x []float64) float64 { return stat.Summarize(x, stat.Larger).Median }

// streaming is a stream kernel over two tensors.
func streaming(ws *workspace, name string, first, second *bench.Tensor) func(w *worker) {
	a, b := as[float64](ws.bytes(first)), as[float64](ws.bytes(second))
	for _, k := range streamKernels(ws.isa) {
		if k.name == name {
			parts := partsOf(ws, len(a), lineElems)
			return func(w *worker) {
				p := parts[w.id]
				k.run(1, a[p.lo:p.hi], b[p.lo:p.hi], nil, 0)
			}
		}
	}
	panic("cpu: no stream kernel " + name)
}
