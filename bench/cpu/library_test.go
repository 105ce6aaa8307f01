package cpu

import (
	"errors"
	"slices"
	"testing"

	"hwcal/bench"
	"hwcal/schema"
)

// abacus is a library that multiplies in fp32, somewhere else than in the tensor of the result.
type abacus struct {
	lacking error
	asked   int
	threads []int // of each call of Bind
	runs    int
	closed  int
}

func (a *abacus) Name() string { return "abacus" }

func (a *abacus) Has(chain string, d schema.DType) bool {
	a.asked++
	return a.lacking == nil && chain == "gemm" && d == schema.FP32
}

func (a *abacus) Lacking() error { return a.lacking }

func (a *abacus) Bind(c bench.Chain, d schema.DType, t Threads, o Operands) (Call, error) {
	a.threads = append(a.threads, len(t.CPUs))
	op := c[0]
	m, k, n := int(op.In[0].Dims[0]), int(op.In[0].Dims[1]), int(op.In[1].Dims[1])
	x, w, y := as[float32](o.Of(op.In[0])), as[float32](o.Of(op.In[1])), as[float32](o.Of(op.Out))
	mem, err := o.Alloc(int64(4 * m * n))
	own := as[float32](mem)
	return Call{
		Name: "abacus_1.0",
		Run: func() {
			a.runs++
			for i := range m {
				for j := range n {
					sum := float32(0)
					for p := range k {
						sum += x[i*k+p] * w[p*n+j]
					}
					own[i*n+j] = sum
				}
			}
		},
		Deliver: func() { copy(y, own) },
		Close:   func() { a.closed++ },
	}, err
}

func libraryCase(t *testing.T, pattern, dims string, threads int, unit string) bench.Case {
	t.Helper()
	c := caseOf(t, pattern, dims, schema.FP32, threads)
	c.Unit = unit
	return c
}

// A library runs for a case that names it, once for all workers, and is verified as all kernels are.
func TestLibraryRunsWhereItIsNamed(t *testing.T) {
	b, a := testBackend(t, ""), &abacus{}
	b.libraries = []Library{a}
	var runs []int
	for _, threads := range threadCounts(b) {
		a.runs = 0
		if _, err := bench.Verify(b, libraryCase(t, "matmul", "5x7x9", threads, "abacus")); err != nil {
			t.Errorf("%d threads: %v", threads, err)
		}
		runs = append(runs, a.runs)
	}
	want := make([]int, len(runs))
	for i, threads := range threadCounts(b) {
		want[i] = min(threads, 2) // with the one that wakes the threads of the library
	}
	if !slices.Equal(runs, want) || a.closed != len(runs) || !slices.Equal(a.threads, threadCounts(b)) {
		t.Errorf("runs %v, closed %d, threads %v", runs, a.closed, a.threads)
	}
	names := b.Implementations("gemm", schema.FP32)
	if len(names) < 2 || names[len(names)-1] != "abacus" || names[0] == "abacus" {
		t.Errorf("implementations of gemm: %v", names)
	}
	if names := b.Implementations("softmax", schema.FP32); slices.Contains(names, "abacus") {
		t.Errorf("implementations of softmax: %v", names)
	}
}

// Nobody asks for a library, and so loads it, where no case names it.
func TestLibraryIsLeftAloneByDefault(t *testing.T) {
	b, a := testBackend(t, ""), &abacus{}
	b.libraries = []Library{a}
	if _, err := bench.Verify(b, libraryCase(t, "matmul", "5x7x9", 1, "")); err != nil {
		t.Error(err)
	}
	if b.Kernels(); a.asked > 0 {
		t.Errorf("asked %d times", a.asked)
	}
}

// What a library has not, and one that is not there, are unsupported, the latter with its reason.
func TestLibraryThatLacks(t *testing.T) {
	b, a := testBackend(t, ""), &abacus{}
	b.libraries = []Library{a}
	if _, err := b.Open(libraryCase(t, "softmax", "1x2x3", 1, "abacus")); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("softmax: %v", err)
	}
	if why := b.Lacking(); len(why) > 0 {
		t.Errorf("lacking: %v", why)
	}
	a.lacking = errors.New("libabacus.so.1 not found")
	if _, err := b.Open(libraryCase(t, "matmul", "5x7x9", 1, "abacus")); !errors.Is(err, bench.ErrUnsupported) {
		t.Errorf("absent: %v", err)
	}
	if got := b.Lacking()["abacus"]; got != a.lacking.Error() {
		t.Errorf("lacking: %q", got)
	}
}

// Samples of a library and of our own kernels take turns; the time is that of worker 0.
func TestLibraryTakesTurns(t *testing.T) {
	b, a := testBackend(t, ""), &abacus{}
	b.libraries = []Library{a}
	threads := len(b.cpus)
	var runs []bench.Run
	var ws bench.Workspace
	for _, unit := range []string{"", "abacus"} {
		c := libraryCase(t, "matmul", "33x17x65", threads, unit)
		var err error
		if ws, err = b.Open(c); err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		k, err := ws.Bind(c.Chain)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, bench.Run{Kernels: []bench.Kernel{k}, N: 2})
	}
	times, err := ws.Samples([]bench.Run{runs[0], runs[1], runs[1], runs[0]})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range times {
		if d <= 0 {
			t.Errorf("sample %d took %v", i, d)
		}
	}
	want := 4
	if threads > 1 {
		want = 6 // with the one that wakes the threads of the library
	}
	if a.runs != want {
		t.Errorf("%d runs, want %d", a.runs, want)
	}
}
