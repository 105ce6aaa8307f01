package ref

// Dropout is Y = s X, and 0 where the random number of an element is below least.
func Dropout(x Field, seed, least uint32, s float64, p Precision) Field {
	scaled := Scale(x, s, p)
	return func(i int64) Num {
		if random31(seed, uint32(i)) < least {
			return Num{}
		}
		return scaled(i)
	}
}

// random31 is number i of a SplitMix32: a counter that advances by 2^32 over the golden
// ratio, and the finaliser of MurmurHash3, of which the upper 31 bits count. It
// repeats after 2^32 elements.
func random31(seed, i uint32) uint32 {
	h := seed + (i+1)*0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return h >> 1
}
