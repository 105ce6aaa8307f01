package cpu

import (
	"fmt"
	"math"
)

// narrowFewPanels is the number of panels of B up to which kc grows beyond what L1 holds: a panel of A is then
// used so little that the cost of packing it in short rows exceeds that of reading long panels from L2. Up to as many, A is
// read as it comes, once for each, from wherever it is: see narrowDirect.
const narrowFewPanels = 4

// newNarrowGEMM plans a product with blocks that follow the caches.
func newNarrowGEMM(u unit, caches cacheSizes, threads, m, n, k int) (*narrowGEMM, error) {
	if m <= 0 || n <= 0 || k <= 0 || threads <= 0 {
		return nil, fmt.Errorf("cpu: gemm m=%d n=%d k=%d with %d threads: want positive numbers", m, n, k, threads)
	}
	if u.gemm.sparesL1 {
		return planNarrowGEMM(u, newStreamedBlocking(u.gemm, caches, n), threads, m, n, k), nil
	}
	l1, l2 := orElse(caches.L1, typicalCaches.L1), orElse(caches.L2, typicalCaches.L2)
	// The block of C takes half of L2: it would otherwise be read and written k/kc times, more than
	// memory gives to units so fast. As much is left for blocks of A and B and what is fetched
	// ahead. Two panels and a tile of C take three quarters of L1.
	side := int(math.Sqrt(float64(l2 / 2 / accBytes)))
	kc := max(1, (l1*3/4-u.gemm.mr*u.gemm.nr*accBytes)/((u.gemm.mr+u.gemm.nr)*stepBytes))
	switch {
	case u.gemm.anyRows && m < u.gemm.mr:
		// Panels of B pass by once, and only that of A stays.
		kc = max(kc, l1/2/(m*stepBytes))
	case u.gemm.anyRows && n <= narrowFewPanels*u.gemm.nr:
		// Panels of A pass by few times, and those of B stay, in L2: the longer the rows that
		// are packed at a time, the better.
		kc = max(kc, l2/2/((u.gemm.mr+ceilDiv(n, u.gemm.nr)*u.gemm.nr)*stepBytes))
	}
	return planNarrowGEMM(u, blocking{mc: side, kc: kc, nc: side}, threads, m, n, k), nil
}

// newStreamedBlocking is for AMX, where only a panel of A stays in L1 and takes two thirds of it. The block of B
// takes a quarter of L2 and is used by all panels of a block of A. The block of C is in L3 and takes an eighth
// of it, but at most 4 MiB, as a virtual machine may report the L3 of its host. On Sapphire Rapids, for 2048
// cubed, AMX reaches 1.6 TFLOPS of bf16 so; with C in L2 and shorter panels it was 1.2.
func newStreamedBlocking(k narrowKernels, caches cacheSizes, n int) blocking {
	l1, l2, l3 := orElse(caches.L1, typicalCaches.L1), orElse(caches.L2, typicalCaches.L2), orElse(caches.L3, typicalCaches.L3)
	kc := max(1, l1*2/3/(k.mr*stepBytes))
	if n <= k.nr {
		kc = max(kc, l2/4/(k.nr*stepBytes)) // A passes by once
	}
	nc := max(k.nr, l2/4/(kc*stepBytes))
	return blocking{mc: max(k.mr, min(l3/8, 4<<20)/(nc*accBytes)), kc: kc, nc: nc}
}

// newPlainNarrowGEMM is for a B that is packed during the run. With AMX and few rows of A, packing takes longer than
// multiplying, and most of that is TLB misses, as a block has a short part of each row of B: its blocks are then
// four times as wide, and a quarter as high. On Sapphire Rapids 32x4096x4096 in bf16 takes 4.2 ms with blocks of
// 1 KiB of a row, 2.5 with 4 KiB; in int8 3.8 and 1.8.
func newPlainNarrowGEMM(u unit, caches cacheSizes, threads, m, n, k int) (*narrowGEMM, error) {
	g, err := newNarrowGEMM(u, caches, threads, m, n, k)
	if err != nil || !u.gemm.sparesL1 || m > 4*u.gemm.mr {
		return g, err
	}
	b := newStreamedBlocking(u.gemm, caches, n)
	return planNarrowGEMM(u, blocking{b.mc, max(1, b.kc/4), b.nc * 4}, threads, m, n, k), nil
}
