package main

// accumulators is the number of independent chains: four pipes with a latency of 4 need 16, two with
// one of 9 need 18.
const accumulators = 24

// peaks emits x <- 0.5x + 1 on every element of acc, iters times. FMLA adds to x, and so a step is
// two of them: x <- x + 1*2, and x <- x - x*0.5.
func peaks(f *file) {
	const half, one, two = accumulators, accumulators + 1, accumulators + 2
	for _, t := range []struct{ name, element, load, lane, lanes string }{
		{"FP32", "float32", "FMOVS", "S", "4s"},
		{"FP64", "float64", "FMOVD", "D", "2d"},
	} {
		f.function("peak"+t.name+"NEON", "iters int, acc *"+t.element+", half, one "+t.element, "")
		f.load("iters acc", "R0", "R1")
		for i, name := range []string{"half", "one"} {
			f.do("%s %s, F%d", t.load, f.arg(name), half+i)
			f.do("VDUP V%d.%s[0], V%d.%s%s", half+i, t.lane, half+i, t.lane, t.lanes[:1])
		}
		f.three("fadd."+t.lanes, two, one, one)
		for i := 0; i < accumulators; i += 2 {
			f.do("FLDPQ %d(R1), (F%d, F%d)", 16*i, i, i+1)
		}
		f.do("CMP $0, R0")
		f.do("BLE store")
		f.label("step")
		for i := range accumulators {
			f.three("fmla."+t.lanes, i, one, two)
		}
		for i := range accumulators {
			f.three("fmls."+t.lanes, i, i, half)
		}
		f.do("SUBS $1, R0, R0")
		f.do("BNE step")
		f.label("store")
		for i := 0; i < accumulators; i += 2 {
			f.do("FSTPQ (F%d, F%d), %d(R1)", i, i+1, 16*i)
		}
		f.do("RET")
	}
}
