package cpu

// canStorePast says whether kernels can store past the caches.
func canStorePast(isa ISA) bool { return isa != Portable }

// canPace says whether kernels for what comes from memory wait for their loads.
func canPace(isa ISA) bool { return isa != Portable }

// storeFence makes what was stored past the caches visible before anything after it.
func storeFence()
