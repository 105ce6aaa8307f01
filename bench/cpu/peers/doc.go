// Command peers shows how our kernels do beside the libraries that people use:
// OpenBLAS, BLIS, oneDNN, PyTorch, and plain C.
//
// Every peer is a process of its own, so that neither its pool of threads nor its
// environment meets another's. It is bound to the CPUs of our workers, gets the
// same inputs through files, and must agree with our result before it is timed.
// Then all take turns in rounds, ours and our register peak among them; a ratio is
// always one of two batches of the same round.
//
// A peer reads one request a line and answers each with "ok ...", "unsupported" or
// "error ...":
//
//	open KIND DTYPE DIMS OUTPUT INPUT...  prepare, run once, write the result to OUTPUT
//	run N                                 run N times; answers the seconds that took
package main
