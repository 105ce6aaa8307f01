package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// guardedSlices returns memory for n elements twice: ending right before an inaccessible page, and
// starting right after one, so that a kernel that leaves its buffer faults.
func guardedSlices[T any](t testing.TB, n int) [2][]T {
	t.Helper()
	var zero T
	front, back := guardedBytes(t, n*int(unsafe.Sizeof(zero)))
	return [2][]T{as[T](back)[:n], as[T](front)[:n]}
}

// guardedOne is one of the two, chosen by the caller.
func guardedOne[T any](t testing.TB, n int, front bool) []T {
	both := guardedSlices[T](t, n)
	if front {
		return both[1]
	}
	return both[0]
}

// fillRandom writes normal data into the rows x cols part of x and NaN into the
// padding of the rows.
func fillRandom[T float](r *rand.Rand, x []T, rows, cols, ld int) {
	for i := range x {
		x[i] = T(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			x[i*ld+j] = T(r.NormFloat64())
		}
	}
}

// gamma is Higham's bound for sums of k products: k*u/(1-k*u).
func gamma[T float](k int) float64 {
	u := 0x1p-24
	if unsafe.Sizeof(T(0)) == 8 {
		u = 0x1p-53
	}
	ku := float64(k) * u
	return ku / (1 - ku)
}

// eachISA runs f for every family; one that is missing is skipped by name, and with -short portable
// Go where there is another: in an emulator all takes long.
func eachISA(t *testing.T, f func(t *testing.T, isa ISA)) {
	present, err := ISAs()
	if err != nil {
		t.Fatal(err)
	}
	for _, isa := range []ISA{AVX512, AVX2, NEON, Portable} {
		t.Run(string(isa), func(t *testing.T) {
			if testing.Short() && isa == Portable && len(present) > 1 {
				t.Skip("left out by -short")
			}
			for _, p := range present {
				if p == isa {
					f(t, isa)
					return
				}
			}
			t.Skipf("this machine has no %s", isa)
		})
	}
}

func newTestTeam(t testing.TB, n int) *team {
	t.Helper()
	allowed, cpus := allowedCPUs(t), make([]int, n)
	for i := range cpus {
		cpus[i] = allowed[(n+i)%len(allowed)]
	}
	tm, err := newTeam(cpus)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tm.close)
	return tm
}
