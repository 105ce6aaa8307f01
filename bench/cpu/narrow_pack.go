package cpu

import "encoding/binary"

// packBlockA packs m rows of A from i0 on, steps steps from pc on.
func (g *narrowGEMM) packBlockA(dst []byte, a byteRows, i0, m, pc, steps int) {
	whole := min(steps, g.k*g.size/stepBytes-pc) // of k; the last step may have less
	far := 0
	if g.narrow() { // to the next panel
		far = g.mr * a.ld
	}
	for i := 0; i < m; i += g.mr {
		panel := dst[i/g.mr*g.panelA(steps):][:g.panelA(steps)]
		rows := min(g.mr, m-i)
		if rows < g.mr || whole < steps {
			clear(panel)
		}
		src := a.data[(i0+i)*a.ld+pc*stepBytes:]
		if whole > 0 {
			_ = src[(rows-1)*a.ld+whole*stepBytes-1]
			g.packA(&panel[0], &src[0], a.ld, rows, whole, g.mr*stepBytes, g.shift(), far)
		}
		if whole == steps {
			continue
		}
		for r := range rows {
			flipped(panel[(whole*g.mr+r)*stepBytes:], src[r*a.ld+whole*stepBytes:][:g.k*g.size-(pc+whole)*stepBytes], g.shift())
		}
	}
}

// flipped copies src, xor flip.
func flipped(dst, src []byte, flip uint64) {
	for ; len(src) >= 8; dst, src = dst[8:], src[8:] {
		binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(src)^flip)
	}
	for i, x := range src {
		dst[i] = x ^ byte(flip)
	}
}

// packBlockB packs n columns of B from j0 on, steps steps from pc on. A partial panel or group is first
// copied to edge and padded with zeros there; missing groups of the last step are zeroed in the panel.
func (g *narrowGEMM) packBlockB(dst []byte, b byteRows, edge []byte, j0, n, pc, steps int) {
	depth := stepBytes / g.size // rows of a step
	groups := depth / g.group
	rows := min(g.k-pc*depth, steps*depth)
	step := g.nr * stepBytes
	for j := 0; j < n; j += g.nr {
		panel := dst[j/g.nr*g.panelB(steps):][:g.panelB(steps)]
		cols := min(g.nr, n-j) * g.size
		src := b.data[pc*depth*b.ld+(j0+j)*g.size:]
		whole := 0
		if cols == g.nr*g.size {
			whole = rows / depth
		}
		if whole > 0 {
			_ = src[(whole*depth-1)*b.ld+cols-1]
			g.packB(&panel[0], &src[0], b.ld, whole*groups)
		}
		for i := whole; i < steps; i++ {
			to, from, some := panel[i*step:][:step], src[i*depth*b.ld:], min(depth, rows-i*depth)
			if cols == g.nr*g.size && some%g.group == 0 {
				clear(to)
				_ = from[(some-1)*b.ld+cols-1]
				g.packB(&to[0], &from[0], b.ld, some/g.group)
				continue
			}
			part := edge[:step]
			clear(part)
			for r := range some {
				copy(part[r*g.nr*g.size:][:cols], from[r*b.ld:])
			}
			g.packB(&to[0], &part[0], g.nr*g.size, groups)
		}
		if g.sumB != nil {
			g.sumB(&panel[0], steps*groups)
		}
	}
}
