package bench

import (
	"errors"
	"testing"
)

func TestLayoutsOf(t *testing.T) {
	for shape, want := range map[string]int{"64x64x64": 10, "512x768x3072": 10, "1024x2048x2048": 5, "1x4096x4096": 1} {
		if got := fakeRunner(newFake()).layoutsOf([]Case{fakeCase(t, "Linear_Bias", shape)}); got != want {
			t.Errorf("%s: %d layouts, want %d", shape, got, want)
		}
	}
	r := fakeRunner(newFake())
	r.Memory = 1 << 20
	if got := r.layoutsOf([]Case{fakeCase(t, "Linear_Bias", "256x256x256")}); got != 1 {
		t.Errorf("%d layouts in a MiB", got)
	}
	cold := fakeCase(t, "Linear_Bias", "64x64x64")
	cold.Cold = true
	if got := r.layoutsOf([]Case{cold}); got != 1 {
		t.Errorf("%d layouts of a cold pair", got)
	}
}

// Two implementations of a case take the memory of both; what is wrong is not timed, whichever it is.
func TestCompareImplementations(t *testing.T) {
	f := newFake()
	r, a := fakeRunner(f), fakeCase(t, "matmul", "64x64x64")
	a.Unit = "a"
	b := a
	b.Unit = "b"
	f.pages = func(opened int, _ Chain) float64 { return float64(2 - opened%2) } // b is opened behind a, and takes twice as long
	cmp, err := r.CompareImplementations(t.Context(), a, b)
	if err != nil || cmp.Implementation != "fakeb" || !(0.45 < cmp.Low && cmp.High < 0.55) {
		t.Errorf("%v, %+v", err, cmp)
	}
	r.Memory = a.Footprint()
	if _, err := r.CompareImplementations(t.Context(), a, b); !errors.Is(err, ErrMemory) {
		t.Errorf("with the memory of one: %v", err)
	}
	r.Memory, f.wrong = 0, "gemm"
	if _, err := r.CompareImplementations(t.Context(), a, b); !errors.Is(err, ErrMismatch) {
		t.Errorf("a wrong one: %v", err)
	}
}
