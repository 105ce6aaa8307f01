package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hwcal/bench/stat"
	"hwcal/schema"
)

// numaSteps plans the paths from the cores of each NUMA node to the memory of each,
// in quick runs from those of the first; none on a machine of one node.
func (c *Calibrator) numaSteps() []step {
	if c.Device.CPU == nil || len(c.Device.CPU.NUMANodes) < 2 {
		return nil
	}
	var steps []step
	for _, node := range c.Device.CPU.NUMANodes {
		threads := 0
		for _, cpu := range node.CPUs {
			if slices.Contains(c.Device.CPU.UsedCPUs, cpu) {
				threads++
			}
		}
		if threads == 0 || c.Options.Mode == schema.Quick && len(steps) > 0 {
			continue
		}
		for _, memory := range c.Device.CPU.NUMANodes {
			if memory.MemoryBytes == 0 {
				continue
			}
			available := cmp.Or(memory.MemoryAvailableBytes, memory.MemoryBytes)
			p := Place{Threads: threads, NUMA: NUMA{Bound: true, Node: node.ID, Memory: memory.ID}}
			steps = append(steps, step{
				label: fmt.Sprintf("NUMA, %s", p),
				cost:  2*c.pointCost() + time.Duration(c.Runner.Settings.DRAMArray/dramRate*int64(time.Second))/2,
				run: func(ctx context.Context, scale float64) error {
					return c.measureNUMA(ctx, p, available/2, scale)
				},
			})
		}
	}
	return steps
}

// measureNUMA reads and chases pointers in memory of which at most so much may be
// taken.
func (c *Calibrator) measureNUMA(ctx context.Context, p Place, most int64, scale float64) error {
	most = min(most, c.memory(p))
	bytes, limited, err := bounded(max(c.Runner.Settings.DRAMArray*int64(p.Threads), c.levels.flatOn(p.Threads)), most, 4096)
	if err != nil {
		return err
	}
	read, arrays := Streams[0], NewStreamArrays(bytes/schema.FP64.Bytes(), int64(p.Parts()))
	rate, err := c.measure(ctx, Case{Chain: Chain{read.Op(arrays)}, DType: schema.FP64, Place: p, Seed: c.Options.Seed}, c.Runner.Settings.PointShare*scale)
	if err != nil {
		return err
	}
	c.checkOuter(&rate, read.WorkingSet(arrays), p.Threads, limited)
	one := p
	one.Threads = 1
	chain, limited, err := bounded(max(chaseDRAMBytes, c.levels.flatFrom), most, chaseGrain)
	if err != nil {
		return err
	}
	op := Chase(chain, chaseLoads, false)
	chase, err := c.measure(ctx, Case{Chain: Chain{op}, DType: schema.FP64, Place: one, Seed: c.Options.Seed}, scale)
	if err != nil {
		return err
	}
	c.checkOuter(&chase, op.Out.Elems()*schema.FP64.Bytes(), one.Threads, limited)
	path := schema.NUMAPath{
		Node: p.NUMA.Node, MemoryNode: p.NUMA.Memory, Threads: p.Threads,
		WorkingSetBytes: read.WorkingSet(arrays), GBps: bandwidthEntry(read, arrays, p, rate).GBps,
		ChaseBytes: op.Out.Elems() * schema.FP64.Bytes(), Nanoseconds: stat.Summarize(nanoseconds(chase), stat.Smaller),
	}
	if inner, best := c.innerLatency(c.levels.outer, chase.PageBytes); path.Nanoseconds.Best*boundTolerance < best {
		chase.warn(schema.Implausible, "%.1f ns are below the %.1f of %s", path.Nanoseconds.Best, best, inner)
	}
	for i, code := range chase.Warnings {
		rate.warn(code, "%s", chase.Notes[i])
	}
	path.Warnings = c.warnAll("numa", len(c.Device.NUMA), rate.Warnings, rate.Notes)
	c.Device.NUMA = append(c.Device.NUMA, path)
	return nil
}
