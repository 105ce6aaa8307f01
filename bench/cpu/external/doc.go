// Package external computes by libraries that are found at run time, to compare with: OpenBLAS and
// oneDNN. None of them is needed, neither to build nor to run.
package external
