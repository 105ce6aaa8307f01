// Command peers shows how our kernels do beside the libraries that people use:
// OpenBLAS, BLIS, oneDNN, PyTorch, and plain C.
//
// Every peer is a process of its own, so that neither its pool of threads nor its
// environment meets another's. It is bound to the CPUs of our workers, gets the
// same inputs through files, and must agree with our result before it is timed.
// Then all take turns in rounds, ours and our register peak among them; a ratio is
// always one of two batches of the same round.
//
// A batch is executed twice, and the second one timed. Others have used the caches since the
// last turn, and for some milliseconds after a process has waited for its turn its own runtime
// is at work: the monitor of Go's scheduler looks around every 20 us then, which took half a
// millisecond of a CPU that all threads of the case need.
//
// A peer reads one request a line and answers each with "ok ...", "unsupported" or
// "error ...":
//
//	open KIND DTYPE DIMS OUTPUT INPUT...  prepare, run once, write the result to OUTPUT
//	run N                                 run N times, and N times again; answers the seconds that these took
package main
