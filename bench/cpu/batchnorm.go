package cpu

import (
	"math"

	"hwcal/bench"
)

// batchNorm is batch norm at inference, of K channels:
// y = (x - mean)*s + beta with s = gamma/sqrt(variance+eps).
type batchNorm[T float] struct {
	gamma, beta, mean, variance []T
	eps                         float64
}

func batchNormOf[T float](ws *workspace, op bench.Op) batchNorm[T] {
	return batchNorm[T]{
		data[T](ws, op.In[1]), data[T](ws, op.In[2]), data[T](ws, op.In[3]), data[T](ws, op.In[4]),
		op.Params.(bench.BatchNormParams).Eps,
	}
}

// scale is s of channel k.
func (n batchNorm[T]) scale(k int) float64 {
	return float64(n.gamma[k]) / math.Sqrt(float64(n.variance[k])+n.eps)
}

// affine is y = factor*x + summand, with one of each a channel.
func (n batchNorm[T]) affine() (factor, summand []T) {
	factor, summand = make([]T, len(n.gamma)), make([]T, len(n.gamma))
	for k := range factor {
		s := n.scale(k)
		factor[k], summand[k] = T(s), T(float64(n.beta[k])-float64(n.mean[k])*s)
	}
	return factor, summand
}

// foldWeights gives the weights [K,...] of a convolution that the norm behind it is folded into: W' = W*s.
func (n batchNorm[T]) foldWeights(w []T) []T {
	folded, per := make([]T, len(w)), len(w)/len(n.gamma)
	for k := range n.gamma {
		s := n.scale(k)
		for i := k * per; i < (k+1)*per; i++ {
			folded[i] = T(float64(w[i]) * s)
		}
	}
	return folded
}

// foldBias gives its bias [K]: b' = (b-mean)*s + beta.
func (n batchNorm[T]) foldBias(b []T) []T {
	folded := make([]T, len(b))
	for k := range folded {
		folded[k] = T((float64(b[k])-float64(n.mean[k]))*n.scale(k) + float64(n.beta[k]))
	}
	return folded
}
