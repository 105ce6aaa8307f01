package cpu

// streamKernels are the kernels of one family, those that fetch ahead last: near, and far.
func streamKernels(isa ISA) []streamKernel {
	switch isa {
	case AVX512:
		return assembled(streamAssembly{
			read: streamReadAVX512, write: streamWriteAVX512, writeNT: streamWriteNTAVX512,
			copy: streamCopyAVX512, copyNT: streamCopyNTAVX512, scale: streamScaleAVX512,
			add: streamAddAVX512, triad: streamTriadAVX512, triadNT: streamTriadNTAVX512,
			read4: streamRead4AVX512, copyNT4: streamCopyNT4AVX512,
		}, streamAssembly{
			ahead: "prefetch", read: streamReadAheadAVX512, write: streamWriteAheadAVX512,
			copy: streamCopyAheadAVX512, copyNT: streamCopyNTAheadAVX512, scale: streamScaleAheadAVX512,
			add: streamAddAheadAVX512, triad: streamTriadAheadAVX512, triadNT: streamTriadNTAheadAVX512,
		}, streamAssembly{
			ahead: "far", read: streamReadFarAVX512, write: streamWriteFarAVX512,
			copy: streamCopyFarAVX512, copyNT: streamCopyNTFarAVX512, scale: streamScaleFarAVX512,
			add: streamAddFarAVX512, triad: streamTriadFarAVX512, triadNT: streamTriadNTFarAVX512,
		})
	case AVX2:
		return assembled(streamAssembly{
			read: streamReadAVX2, write: streamWriteAVX2, writeNT: streamWriteNTAVX2,
			copy: streamCopyAVX2, copyNT: streamCopyNTAVX2, scale: streamScaleAVX2,
			add: streamAddAVX2, triad: streamTriadAVX2, triadNT: streamTriadNTAVX2,
			read4: streamRead4AVX2, copyNT4: streamCopyNT4AVX2,
		}, streamAssembly{
			ahead: "prefetch", read: streamReadAheadAVX2, write: streamWriteAheadAVX2,
			copy: streamCopyAheadAVX2, copyNT: streamCopyNTAheadAVX2, scale: streamScaleAheadAVX2,
			add: streamAddAheadAVX2, triad: streamTriadAheadAVX2, triadNT: streamTriadNTAheadAVX2,
		}, streamAssembly{
			ahead: "far", read: streamReadFarAVX2, write: streamWriteFarAVX2,
			copy: streamCopyFarAVX2, copyNT: streamCopyNTFarAVX2, scale: streamScaleFarAVX2,
			add: streamAddFarAVX2, triad: streamTriadFarAVX2, triadNT: streamTriadNTFarAVX2,
		})
	}
	return portableStream
}
