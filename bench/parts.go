package bench

import "hwcal/schema"

// Parts are the chains that a kernel each computes.
type Parts []Chain

// Parts cuts the chain of a network: from its front on, it is the longest chain each time for which the
// device has a kernel. What others read too ends a part. They are nil for what is no network.
func (p Pattern) Parts(c Chain, d schema.DType, b Backend) Parts {
	if !p.Network() {
		return nil
	}
	has := map[string]bool{}
	for _, k := range b.Kernels() {
		if k.DType == d {
			has[k.Chain] = true
		}
	}
	readers := map[*Tensor]int{}
	for _, op := range c {
		for _, t := range op.In {
			readers[t]++
		}
	}
	var all Parts
	for len(c) > 0 {
		longest := 1
		for n := 1; n < len(c) && c[n].In[0] == c[n-1].Out && readers[c[n].In[0]] == 1; n++ {
			if has[c[:n+1].String()] {
				longest = n + 1
			}
		}
		all = append(all, c[:longest])
		c = c[longest:]
	}
	return all
}

// FusedBytes are those of all parts.
func (ps Parts) FusedBytes(d schema.DType) (bytes int64) {
	for _, c := range ps {
		bytes += c.FusedBytes(d)
	}
	return bytes
}

// WrittenBytes are those of all parts.
func (ps Parts) WrittenBytes(d schema.DType) (bytes int64) {
	for _, c := range ps {
		bytes += c.WrittenBytes(d)
	}
	return bytes
}

// FoldedFLOP are those of all parts.
func (ps Parts) FoldedFLOP() (flop int64) {
	for _, c := range ps {
		flop += c.FoldedFLOP()
	}
	return flop
}

// names are the chains, if there are several.
func (ps Parts) names() []string {
	if len(ps) == 1 {
		return nil
	}
	names := make([]string, len(ps))
	for i, c := range ps {
		names[i] = c.String()
	}
	return names
}
