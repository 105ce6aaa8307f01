package cpu

const hasAssembly = true
