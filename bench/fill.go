package bench

import (
	"math"
	"math/rand/v2"
)

// Fill is the distribution of the random values of an input. Constants and zeros
// draw less power and clock higher; denormals cost hundreds of cycles.
type Fill int

const (
	Normal   Fill = iota // mean 0, standard deviation 1
	Positive             // uniform in [0.5, 1.5): variances, divisors
	Masking              // 0, and -10000 for one in four: masks that are added
	labels               // and as many more as there are classes
)

// Averaging are values of mean 0 and standard deviation 1/sqrt(n): a sum of n products with them is as
// large as what they multiply, so that the values of a network neither grow nor vanish.
func Averaging(n int64) Fill { return -Fill(n) }

// Labels are integers, uniform in [0, classes): classes of rows, indices into a table.
// Whatever the type of a case is, they are stored as int32, of LabelBytes.
func Labels(classes int64) Fill { return labels + Fill(classes) }

// LabelBytes is the size of a label.
const LabelBytes = 4

// Classes is the number of classes of Labels, 0 for what is none.
func (f Fill) Classes() int64 { return max(0, int64(f-labels)) }

// Int8Unit is the integer that stands for 1 in a case in int8: four standard
// deviations fill the range. A sum of products counts its square as 1.
const Int8Unit = 32

// blockLen is the length of the random block that a tensor repeats. It is prime:
// no row of a matrix begins where another does, short of 65521 rows.
const blockLen = 65521

// Len is the length of the block of a tensor of n elements.
func (f Fill) Len(n int64) int64 { return min(n, blockLen) }

// Block returns the random block of input number `index` of a case, a tensor of
// n elements. Element i of the tensor is block[i % len(block)], so that large
// tensors are filled at the speed of a copy.
func (f Fill) Block(seed uint64, index int, n int64) []float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(index)))
	block := make([]float64, f.Len(n))
	for i := range block {
		switch classes := f.Classes(); {
		case classes > 0:
			block[i] = float64(rng.Int64N(classes))
		case f == Positive:
			block[i] = 0.5 + rng.Float64()
		case f == Masking:
			if rng.IntN(4) == 0 {
				block[i] = -10000
			}
		case f < 0:
			block[i] = rng.NormFloat64() / math.Sqrt(float64(-f))
		default:
			block[i] = rng.NormFloat64()
		}
	}
	return block
}
