package cpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"hwcal/bench"
	"hwcal/bench/cpu/internal/emulate"
	"hwcal/bench/element"
	"hwcal/schema"
)

// present says whether this process can use the unit itself.
func present(u unit) bool {
	return cpuid.CPU.Supports(u.needs...) && (u.isa != AMX || amxRefused() == "")
}

// provide lets this process use the unit, emulated if need be, and says whether it is.
func provide(t *testing.T, u unit) (emulated bool) {
	t.Helper()
	if present(u) {
		return false
	}
	if !emulate.Supported() || u.isa == AMX && !emulate.Tiles() {
		t.Skipf("this machine neither has %s nor can emulate it", u.title)
	}
	if err := emulate.Install(); err != nil {
		t.Fatal(err)
	}
	return true
}

// eachUnit runs f for every unit, emulated where the CPU lacks it, and for those in Go.
func eachUnit(t *testing.T, f func(t *testing.T, u unit)) {
	for _, u := range slices.Concat(units, twins()) {
		t.Run(fmt.Sprintf("%s/%s", u.dtype, u.name), func(t *testing.T) {
			if u.isa != Portable {
				provide(t, u)
			}
			f(t, u)
		})
	}
}

// isaBeside is that of the other kernels: every x86 with a unit for 16 bits has AVX-512.
func isaBeside(u unit) ISA {
	if u.isa == Portable || u.isa == NEON {
		return u.isa
	}
	return AVX512
}

// narrowCase is one product in one arrangement.
type narrowCase struct {
	m, n, k, threads int
	block            blocking // in mr, steps and nr; zero: from the caches
	pack, front, end bool
	direct           bool
	packed           bool // by newPackedNarrowGEMM
}

func TestNarrowGEMM(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		mr, nr, step := u.gemm.mr, u.gemm.nr, stepBytes/int(u.dtype.Bytes())
		small := blocking{2 * mr, 2, 2 * nr}
		var cases []narrowCase
		for _, m := range []int{1, mr - 1, mr + 1} {
			for _, n := range []int{1, nr, nr + 1} {
				for _, k := range []int{u.gemm.group + 1, step, step + 1} {
					cases = append(cases, narrowCase{m: m, n: n, k: k, threads: 1, pack: (m+n+k)%2 == 0, front: (m+n)%2 == 0, end: (m+k)%2 == 0})
				}
			}
		}
		// Edges of the blocks; an emulated instruction takes a microsecond.
		shape := 0
		for _, m := range []int{2 * mr, 4*mr + 3} {
			for _, n := range []int{2 * nr, 5*nr - 2} {
				for _, k := range []int{2 * step, 3*step + 5} {
					shape++
					cases = append(cases, narrowCase{m: m, n: n, k: k, threads: 1 + shape%4, block: small, pack: shape%3 == 0, front: shape%2 == 0, end: shape%4 < 2})
				}
			}
		}
		cases = append(cases, narrowCase{m: 3*mr + 1, n: 3*nr + 1, k: 5*step - 1, threads: 1, block: small, pack: true, front: true}, narrowCase{m: 3*mr - 1, n: 5*nr + 1, k: 2*step + 1, threads: 2, block: small, front: true, end: true})
		// More steps than tiles stay for: sums that are added to, rows of A as they come, one panel of B.
		long := blocking{2 * mr, 12, 2 * nr}
		cases = append(cases,
			narrowCase{m: 2 * mr, n: 3 * nr, k: 20*step + 5, threads: 1, block: long, pack: true, front: true},
			narrowCase{m: mr + 2, n: 4*nr + 3, k: 20*step + 5, threads: 2, block: long, end: true},
			narrowCase{m: 2*mr + 1, n: 2*nr + 1, k: 12 * step, threads: 1, block: long, pack: true},
			narrowCase{m: 3 * mr, n: 2 * nr, k: 12 * step, threads: 2, block: long, front: true, end: true},
			narrowCase{m: 2 * mr, n: nr, k: 12 * step, threads: 1, block: long, pack: true, front: true},
			narrowCase{m: 2*mr + 3, n: nr - 1, k: 20 * step, threads: 1, block: long})
		if u.gemm.anyRows { // a tile of every height
			for m := 1; m <= mr; m++ {
				cases = append(cases, narrowCase{m: m, n: nr + 3, k: 2*step + 3, threads: 1, block: small, pack: m%2 == 0, front: m%4 < 2, end: m%3 == 0})
			}
		}
		if u.gemm.skinny != nil { // several blocks of columns
			cases = append(cases, narrowCase{m: 8, n: 16*nr + 9, k: step + u.gemm.group + 1, threads: 1, end: true},
				narrowCase{m: 7, n: 40*nr - 1, k: step, threads: 2, front: true})
		}
		if u.gemm.direct != nil { // tiles of all heights and both widths, and parts of workers
			for m := 1; m <= directRows; m++ {
				cases = append(cases, narrowCase{m: m, n: (1 + m%4) * nr / 2, k: (1 + m%3) * u.gemm.group, threads: 1, front: m%2 == 0, direct: true})
			}
			// Parts of vectors, and of groups, fewer than one among them.
			for n := 1; n <= 2*nr+1; n++ {
				c := narrowCase{m: 1 + n%directRows, n: n, k: 1 + n%(3*u.gemm.group), threads: 1, front: n%2 == 0, direct: true}
				cases = append(cases, c)
				c.m, c.direct, c.packed, c.pack = c.m+2*directRows, false, true, true
				cases = append(cases, c)
				c.end = true
				cases = append(cases, c)
			}
			cases = append(cases, narrowCase{m: 2*mr + 1, n: nr, k: step + u.gemm.group, threads: 2, direct: true},
				narrowCase{m: mr, n: 3 * nr / 2, k: 2 * step, threads: 2, front: true, direct: true})
			// Rows of A by packed panels, whole ones and others, with more rows than are finished at a time.
			for m := 2 * directRows; m < 3*directRows; m++ {
				cases = append(cases, narrowCase{m: m, n: nr + m%3, k: (1 + m%3) * u.gemm.group, threads: 1, front: m%2 == 0, end: m%4 < 2, packed: true, pack: true})
			}
			rows := 2*hotSums/(nr*accBytes) + 3
			cases = append(cases, narrowCase{m: rows, n: 3 * nr, k: step, threads: 2, packed: true, pack: true},
				narrowCase{m: rows, n: 2*nr + 5, k: u.gemm.group, threads: 2, end: true, packed: true, pack: true})
		}
		r := rand.New(rand.NewPCG(3, 4))
		teams := map[int]*team{}
		for _, c := range cases {
			if teams[c.threads] == nil {
				teams[c.threads] = newTestTeam(t, c.threads)
			}
			if err := checkNarrowGEMM(t, r, u, teams[c.threads], c); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
	})
}

// checkNarrowGEMM multiplies integers so small that every sum is exact, in fp16 too, and
// compares all elements. int8 gets its whole range.
func checkNarrowGEMM(t *testing.T, r *rand.Rand, u unit, tm *team, c narrowCase) error {
	var g *narrowGEMM
	if c.block == (blocking{}) {
		var err error
		plan, caches := newNarrowGEMM, cacheSizes{}
		if c.packed {
			plan, caches.L2 = newPackedNarrowGEMM, 4<<10 // for several blocks of rows
		}
		if g, err = plan(u, caches, c.threads, c.m, c.n, c.k); err != nil {
			return err
		}
		if g.unpackedA != c.packed {
			return fmt.Errorf("planned for rows as they come: %t", g.unpackedA)
		}
	} else {
		g = planNarrowGEMM(u, c.block, c.threads, c.m, c.n, c.k)
	}
	guarded := func(n int) []byte {
		front, back := guardedBytes(t, n)
		if c.front {
			return front
		}
		return back
	}
	elem, sum := element.Of(u.dtype), element.OfTensor(&bench.Tensor{Sums: true}, u.dtype)
	random := func(rows, cols int) (byteRows, []float64) {
		ld := cols + 3
		x := byteRows{guarded(((rows-1)*ld + cols) * g.size), ld * g.size}
		for i := range x.data {
			x.data[i] = 0x7f // NaN, or a large number
		}
		values := make([]float64, rows*cols)
		for i := range rows {
			for j := range cols {
				v := float64(r.IntN(7) - 3)
				if u.dtype == schema.INT8 {
					v = float64(r.IntN(255)-127) / bench.Int8Unit
				}
				at := int64(i*ld + j)
				elem.Set(x.data, at, v)
				values[i*cols+j] = elem.Get(x.data, at)
			}
		}
		return x, values
	}
	a, av := random(c.m, c.k)
	b, bv := random(c.k, c.n)
	ldc := c.n + 5
	y := byteRows{guarded(((c.m-1)*ldc + c.n) * accBytes), ldc * accBytes}
	for i := range y.data {
		y.data[i] = 0x7f
	}
	before := bytes.Clone(y.data)
	mem := guarded(int(g.scratchBytes()))
	s, err := g.newScratch(mem)
	if err != nil {
		return err
	}
	var packed []byte
	if c.pack {
		packed = g.prepackB(guarded(g.packedBytes()), b, s[0].spare)
	}
	for i := range mem { // what a run before left behind must not matter
		mem[i] = 0x7f
	}
	ended := make([]int, c.m*c.n)
	var end finish
	if c.end {
		end = func(sums []byte, i0, j0, m, n int) {
			for i := range m {
				copy(y.data[(i0+i)*y.ld+j0*accBytes:][:n*accBytes], sums[i*g.nr*accBytes:])
				for j := range n {
					ended[(i0+i)*c.n+j0+j]++
				}
			}
		}
	}
	multiply := func(id int) { g.run(id, s[id], a, b, packed, y, end) }
	if c.direct {
		d := newNarrowDirect(u, cacheSizes{}, c.threads, c.m, c.n, c.k)
		rooms := make([][]byte, c.threads)
		for i := range rooms {
			rooms[i] = guarded(d.roomBytes())
		}
		multiply = func(id int) { d.run(id, rooms[id], a, b, y) }
	}
	tm.run(func(w *worker) { multiply(w.id) })
	for i := range c.m {
		for j := range ldc {
			at := int64(i*ldc + j)
			if j >= c.n {
				if from := at * accBytes; from < int64(len(y.data)) && !bytes.Equal(y.data[from:from+accBytes], before[from:from+accBytes]) {
					return fmt.Errorf("padding c[%d,%d] was written", i, j)
				}
				continue
			}
			want := 0.0
			for p := range c.k {
				want += av[i*c.k+p] * bv[p*c.n+j]
			}
			if got := sum.Get(y.data, at); got != want {
				return fmt.Errorf("c[%d,%d] = %g, want %g", i, j, got, want)
			}
			if n := ended[i*c.n+j]; c.end && n != 1 {
				return fmt.Errorf("c[%d,%d] was finished %d times", i, j, n)
			}
		}
	}
	return nil
}

// Random normal values, through the backend, on one thread and two: within the bounds
// that hold for measurements too. Patterns run fused and unfused.
func TestNarrowPatterns(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		for _, threads := range threadCounts(b) {
			for _, text := range []string{"1x1x1", "33x65x129"} {
				verifyIn(t, b, "matmul_packed", text, u.dtype, threads)
			}
			for _, p := range narrowPatterns(u.dtype, "linear") {
				if slices.Contains(rowPatterns, p) {
					continue // they have a test of their own
				}
				for _, text := range []string{"1x1x1", "17x33x65"} {
					verifyIn(t, b, p, text, u.dtype, threads)
				}
			}
			if u.peak.run == nil {
				continue
			}
			c := bench.Case{Chain: bench.Chain{bench.PeakFMA(1, int64(threads))}, DType: u.dtype, Unit: u.name, Place: bench.Place{Threads: threads}, Seed: 5}
			if _, err := bench.Verify(b, c); err != nil {
				t.Errorf("peak: %v", err)
			}
		}
	})
}

// Products of a batch: widened, of one block, of rows that fill tiles and of some that do not, of
// steps and groups that are not whole, of several blocks.
func TestNarrowBatch(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		shapes := []string{"3x5x7x9", "3x33x17x65", "4x32x32x32", "1x1x1x33", "2x16x600x64"}
		if !testing.Short() {
			shapes = append(shapes, "5x16x16x16", "3x13x32x34", "2x30x64x67", "2x200x40x300", "2x8x512x64", "2x3x70x40")
		}
		for _, text := range shapes {
			for _, threads := range threadCounts(b) {
				verifyIn(t, b, "matmul_batched", text, u.dtype, threads)
			}
		}
	})
}

// Layers are fused in every narrow type, but those of int8 that have no integer form.
func TestNarrowFusion(t *testing.T) {
	floats := []string{"Linear_Bias", "Linear_Bias_ReLU", "Linear_Bias_GELU", "Linear_Bias_SiLU", "Linear_Bias_Residual", "Linear_Bias_GELU_Linear", "SwiGLU", "Linear_LayerNorm"}
	for d, want := range map[schema.DType][]string{schema.BF16: floats, schema.FP16: floats, schema.INT8: floats[:2]} {
		if have := narrowPatterns(d, "linear"); !slices.Equal(have, want) {
			t.Errorf("%s: fused are %v, want %v", d, have, want)
		}
	}
}

// narrowPatterns are those of a group that there are kernels of in the type.
func narrowPatterns(d schema.DType, group string) []string {
	var names []string
	for _, p := range bench.Patterns() {
		chain, err := p.In(d).Build(p.Shapes(schema.Full)[0], bench.Place{Threads: 1})
		if err == nil && p.Group == group && kernels[chain.String()].has(d) {
			names = append(names, p.Name)
		}
	}
	return names
}

func verifyIn(t *testing.T, b *Backend, name, text string, d schema.DType, threads int) {
	t.Helper()
	threads = min(threads, len(b.cpus))
	if _, err := bench.Verify(b, caseOf(t, name, text, d, threads)); err != nil {
		t.Errorf("%s %s %s %d threads: %v", name, text, d, threads, err)
	}
}

// Rows of A are multiplied as they come, or panels of them: whichever is faster here, both are right, alone, with what
// follows, and in pairs of weights.
func TestRowsAsTheyCome(t *testing.T) {
	eachUnit(t, func(t *testing.T, u unit) {
		if u.gemm.panels == nil {
			t.Skip("the unit multiplies panels")
		}
		patterns := []string{"matmul_packed", "Linear_Bias_ReLU"}
		if u.dtype != schema.INT8 {
			patterns = append(patterns, "Linear_Bias_Residual", "Linear_Bias_GELU_Linear", "SwiGLU", "Linear_LayerNorm")
		}
		b := testBackend(t, "")
		b.units = map[schema.DType][]unit{u.dtype: {u}}
		for _, asRows := range []bool{false, true} {
			for i := range b.memory {
				b.memory[i].unpackedA = map[string]bool{u.name: asRows}
			}
			for _, threads := range threadCounts(b) {
				for _, p := range patterns {
					verifyIn(t, b, p, "37x36x40", u.dtype, threads)
				}
			}
		}
	})
}
