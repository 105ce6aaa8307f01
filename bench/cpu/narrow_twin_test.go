package cpu

import (
	"unsafe"

	"hwcal/bench/element"
	"hwcal/schema"
)

// twins are units in Go, so that what is around the micro-kernels is tested where the CPU
// has no unit and none can be emulated: tiles as those of AMX, and lower ones that read B
// as it comes, of which those of int8 multiply unsigned by signed numbers.
func twins() (all []unit) {
	for _, w := range []twin{{schema.BF16, 2, false, false}, {schema.INT8, 4, false, false}, {schema.BF16, 2, true, false}, {schema.FP16, 1, true, false}, {schema.INT8, 4, true, true}} {
		u := unit{name: "twin_tiles", dtype: w.dtype, isa: Portable}
		u.gemm = narrowKernels{mr: 8, nr: twinCols, width: w.width(), group: w.group, block: w.block, packA: twinPackA, packB: w.packB}
		if w.low {
			u.name = "twin_low"
			u.gemm.mr, u.gemm.anyRows, u.gemm.sumB, u.gemm.skinny = 5, true, w.sumB(), w.skinny
		}
		all = append(all, u)
	}
	return all
}

// twinCols is the width of a tile.
const twinCols = 32

// width is that of the parts of a step of B: those of AMX are half as wide as its blocks of tiles.
func (w twin) width() int {
	if w.low {
		return twinCols
	}
	return twinCols / 2
}

// at is where column col and row p of B lie in a panel.
func (w twin) at(p, col int) int {
	depth := stepBytes / int(w.dtype.Bytes())
	group, part := p%depth/w.group, col/w.width()
	return p/depth*depth*twinCols + part*depth*w.width() + (group*w.width()+col%w.width())*w.group + p%w.group
}

// twin has the functions that narrowKernels describes.
type twin struct {
	dtype schema.DType
	group int
	low   bool
	flips bool // A, packed, or B where it is read as it comes, is unsigned: 128 more
}

// values are those of n bytes at p; unsigned ones if flipped.
func (w twin) values(p *byte, at, n int, flipped bool) []float64 {
	mem, e := bytesAt(p, at, n), element.Of(w.dtype)
	all := make([]float64, n/int(e.Bytes))
	for i := range all {
		if all[i] = e.Get(mem, int64(i)); flipped {
			all[i] = float64(mem[i])
		}
	}
	return all
}

// add adds to sums in memory; of int8 they wrap around.
func (w twin) add(acc []byte, sums []float64) {
	for i, v := range sums {
		if w.dtype == schema.INT8 {
			as[int32](acc)[i] += int32(v)
		} else {
			as[float32](acc)[i] += float32(v)
		}
	}
}

func (w twin) block(rows, panelsA, panelsB, steps int, a, b, acc *byte, load bool, accSkip int,
	out *byte, ldo, nextTile, nextRow int, _ *byte, _, _ int, _ *byte, _, _ int, _ *byte, _ int) {
	panelA, panelB, row := rows*stepBytes*steps, twinCols*stepBytes*steps, twinCols*accBytes
	behind := 0 // a panel of B: what makes up for an unsigned A
	if w.flips {
		behind = row
	}
	depth := stepBytes / int(w.dtype.Bytes())
	for i := range panelsA {
		x := w.values(a, i*panelA, panelA, w.flips)
		for j := range panelsB {
			y := w.values(b, j*(panelB+behind), panelB, false)
			c := make([]byte, rows*row)
			if load {
				copy(c, bytesAt(acc, i*(panelsB*len(c)+accSkip)+j*len(c), len(c)))
			}
			for r := range rows {
				sums := make([]float64, twinCols)
				for p := range steps * depth {
					f := x[(p/depth*rows+r)*depth+p%depth]
					for col := range sums {
						sums[col] += f * y[w.at(p, col)]
					}
				}
				for col, v := range as[int32](bytesAt(b, j*(panelB+behind)+panelB, behind)) {
					sums[col] += float64(v)
				}
				to := c[r*row:][:row]
				w.add(to, sums)
				copy(bytesAt(out, i*nextRow+j*nextTile+r*ldo, row), to)
			}
		}
	}
}

func twinPackA(dst, src *byte, ld, rows, steps, next int, flip uint64, _ int) {
	for r := range rows {
		for s := range steps {
			flipped(bytesAt(dst, s*next+r*stepBytes, stepBytes), bytesAt(src, r*ld+s*stepBytes, stepBytes), flip)
		}
	}
}

func (w twin) packB(dst, src *byte, ld, groups int) {
	size := int(w.dtype.Bytes())
	for r := range groups * w.group {
		for j := range twinCols {
			copy(bytesAt(dst, w.at(r, j)*size, size), bytesAt(src, r*ld+j*size, size))
		}
	}
}

func (w twin) sumB() func(panel *byte, groups int) {
	if !w.flips {
		return nil
	}
	return func(panel *byte, groups int) {
		size := groups * twinCols * w.group
		sums := as[int32](bytesAt(panel, size, twinCols*accBytes))
		clear(sums)
		for i, v := range w.values(panel, 0, size, false) {
			sums[i/w.group%twinCols] -= 128 * int32(v)
		}
	}
}

func (w twin) skinny(m, n, steps int, x, b *byte, ldb int, y *byte) {
	size := int(w.dtype.Bytes())
	depth := skinnyBytes / size
	xs := w.values(x, 0, steps*m*skinnyBytes, false)
	for p := range steps * depth {
		for j, v := range w.values(b, p*ldb, n*size, false) {
			if w.flips {
				v += 128
			}
			for i := range m {
				at := ((j/twinCols*m+i)*twinCols + j%twinCols) * accBytes
				w.add(bytesAt(y, at, accBytes), []float64{v * xs[(p/depth*m+i)*depth+p%depth]})
			}
		}
	}
}

// bytesAt are n bytes, so many behind p.
func bytesAt(p *byte, at, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), at)), n)
}
