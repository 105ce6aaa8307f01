//go:build linux && amd64 && cgo

package emulate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

const (
	ldtilecfg   = "c4 e2 78 49 43 40"             // [rbx+0x40]
	sttilecfg   = "c4 e2 79 49 43 40"             // [rbx+0x40]
	tilerelease = "c4 e2 78 49 c0"                //
	loadD       = "c4 e2 7b 4b 84 4b 00 04 00 00" // tileloadd tmm0, [rbx+rcx*2+0x400]
	loadA       = "c4 e2 79 4b 8c 4b 00 08 00 00" // tileloaddt1 tmm1, [rbx+rcx*2+0x800]
	loadB       = "c4 e2 7b 4b 94 4b 00 0c 00 00" // tileloadd tmm2, [rbx+rcx*2+0xc00]
	storeD      = "c4 e2 7a 4b 84 4b 00 10 00 00" // tilestored [rbx+rcx*2+0x1000], tmm0
	tilezero0   = "c4 e2 7b 49 c0"                //
	atConfig    = 0x40
	atD, atA    = 0x400, 0x800
	atB, atOut  = 0xC00, 0x1000
	stride      = 64
)

// assembleTiles makes a program that needs all of AMX emulated.
func assembleTiles(t *testing.T, instructions ...string) *program {
	t.Helper()
	if Supported() && !Tiles() {
		t.Skip("the CPU has tiles of its own")
	}
	return assemble(t, instructions...)
}

// The products are tmm0 += tmm1 * tmm2.
var tileProducts = []struct {
	name, code string
	model      func(d uint32, a, b []byte, depth int) uint32
}{
	{"TDPBSSD", "c4 e2 6b 5e c1", dotBytes(true, true)},
	{"TDPBSUD", "c4 e2 6a 5e c1", dotBytes(true, false)},
	{"TDPBUSD", "c4 e2 69 5e c1", dotBytes(false, true)},
	{"TDPBUUD", "c4 e2 68 5e c1", dotBytes(false, false)},
	{"TDPBF16PS", "c4 e2 6a 5c c1", dotPairs(fromBF16)},
	{"TDPFP16PS", "c4 e2 6b 5c c1", dotPairs(func(x uint16) float32 { return float32(fromFP16(x)) })},
}

// dotBytes is the product of a row with a column, whose groups of four bytes
// are one row of the tile apart.
func dotBytes(signA, signB bool) func(uint32, []byte, []byte, int) uint32 {
	extend := func(x byte, sign bool) int64 {
		if sign {
			return int64(int8(x))
		}
		return int64(x)
	}
	return func(d uint32, a, b []byte, depth int) uint32 {
		sum := int64(d)
		for k := range depth {
			for i := range 4 {
				sum += extend(a[4*k+i], signA) * extend(b[stride*k+i], signB)
			}
		}
		return uint32(sum)
	}
}

func dotPairs(convert func(uint16) float32) func(uint32, []byte, []byte, int) uint32 {
	return func(d uint32, a, b []byte, depth int) uint32 {
		var sum [2]float32
		for k := range depth {
			for i := range sum {
				x := convert(binary.LittleEndian.Uint16(a[4*k+2*i:]))
				y := convert(binary.LittleEndian.Uint16(b[stride*k+2*i:]))
				sum[i] = flushedFMA(x, y, sum[i])
			}
		}
		both := flushedFMA(sum[0], 1, sum[1])
		return math.Float32bits(flushedFMA(both, 1, math.Float32frombits(d)))
	}
}

// configure writes the operand of LDTILECFG for a product of rows x columns
// of 32-bit numbers, with depth groups of four bytes.
func (s *state) configure(rows, columns, depth int) {
	c := s.mem[atConfig:][:64]
	clear(c)
	c[0] = 1
	for i, shape := range [][2]int{{rows, columns}, {rows, depth}, {depth, columns}} {
		c[48+i] = byte(shape[0])
		c[16+2*i] = byte(4 * shape[1])
	}
	s.index = stride / 2
}

func randomTiles(r *rand.Rand) *state {
	s := new(state)
	fill(r, s.mem[:], near1BF16)
	return s
}

// multiply is what a program of loads, a product and a store does.
func multiply(s *state, rows, columns, depth int, model func(uint32, []byte, []byte, int) uint32) {
	for m := range rows {
		for n := range columns {
			at := stride*m + 4*n
			d := binary.LittleEndian.Uint32(s.mem[atD+at:])
			d = model(d, s.mem[atA+stride*m:], s.mem[atB+4*n:], depth)
			binary.LittleEndian.PutUint32(s.mem[atOut+at:], d)
		}
	}
}

func TestTileProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range tileProducts {
		t.Run(p.name, func(t *testing.T) {
			prog := assembleTiles(t, ldtilecfg, loadD, loadA, loadB, p.code, storeD, tilerelease)
			for _, shape := range [][3]int{{16, 16, 16}, {1, 1, 1}, {5, 16, 3}, {16, 7, 11}} {
				got := randomTiles(r)
				got.configure(shape[0], shape[1], shape[2])
				want := *got
				multiply(&want, shape[0], shape[1], shape[2], p.model)
				prog.run(got)
				if *got != want {
					t.Errorf("shape %v: wrong result", shape)
				}
			}
		})
	}
}

// The tiles are those of a thread: products at once do not meet.
func TestTilesOfThreads(t *testing.T) {
	p := tileProducts[0]
	prog := assembleTiles(t, ldtilecfg, loadD, loadA, loadB, p.code, storeD, tilerelease)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(g)))
			for range 50 {
				rows, columns, depth := 1+r.IntN(16), 1+r.IntN(16), 1+r.IntN(16)
				got := randomTiles(r)
				got.configure(rows, columns, depth)
				want := *got
				multiply(&want, rows, columns, depth, p.model)
				prog.run(got)
				if *got != want {
					t.Errorf("goroutine %d: wrong result", g)
				}
				runtime.Gosched()
			}
		})
	}
	for range 5 {
		runtime.GC() // stops the goroutines with a signal of its own
	}
	wg.Wait()
}

func TestTileConfig(t *testing.T) {
	move := "48 83 c3 40" // add rbx, 0x40
	prog := assembleTiles(t, sttilecfg, move, ldtilecfg, move, sttilecfg, tilerelease, move, sttilecfg)
	s := randomTiles(rand.New(rand.NewPCG(5, 6)))
	want := new(state)
	want.configure(3, 4, 5)
	config := want.mem[atConfig:][:64]
	copy(s.mem[atConfig+0x40:], config)
	prog.run(s)
	for i, c := range [][]byte{make([]byte, 64), config, config, make([]byte, 64)} {
		if got := s.mem[atConfig+0x40*i:][:64]; !bytes.Equal(got, c) {
			t.Errorf("configuration %d is %x, want %x", i, got, c)
		}
	}
}

// A load writes only the shape, and the configuration clears all tiles.
func TestTileZero(t *testing.T) {
	for i, code := range [][]string{
		{ldtilecfg, loadD, tilezero0, storeD, tilerelease},
		{ldtilecfg, loadD, ldtilecfg, storeD, tilerelease},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := randomTiles(rand.New(rand.NewPCG(7, 8)))
			s.configure(16, 16, 16)
			want := *s
			clear(want.mem[atOut:][:16*stride])
			assembleTiles(t, code...).run(s)
			if *s != want {
				t.Error("the tile is not zero")
			}
		})
	}
}
