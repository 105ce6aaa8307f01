package bench

import "hwcal/bench/ref"

// Transfers copy n elements between the page-locked memory of the host and the memory of the
// device.
func hostToDevice(n int64) Op {
	return transfer("host_to_device", &Tensor{Name: "a", Dims: []int64{n}, Host: true}, &Tensor{Name: "c", Dims: []int64{n}})
}

func deviceToHost(n int64) Op {
	return transfer("device_to_host", &Tensor{Name: "a", Dims: []int64{n}}, &Tensor{Name: "c", Dims: []int64{n}, Host: true})
}

func transfer(name string, from, to *Tensor) Op {
	return Op{
		Name: name,
		In:   []*Tensor{from},
		Out:  to,
		Ref:  func(in []ref.Field, _ ref.Precision) ref.Field { return ref.Copy(in[0]) },
	}
}
