package profiles

import (
	"fmt"
	"slices"

	"hwcal/schema"
)

// windowSlack is how far the executions at their shortest latency may exceed the window: the two are timed by clocks
// that are read one after the other.
const windowSlack = 1.05

// checkEnergy: power is energy over time, and what is told per watt follows from both; the window had time
// for the executions. The meters are those of the device.
func checkEnergy(c *checker) {
	for at, d := range c.eachDevice() {
		readable := map[string]int{} // each package may have a zone of the same name
		for _, m := range d.Power.Meters {
			if m.Readable {
				readable[m.Name]++
			}
		}
		meters := func(path string, names []string) {
			counted := map[string]int{}
			for _, name := range names {
				if counted[name]++; counted[name] > readable[name] {
					c.fail(path, "names a meter that the device does not have, or not so often, or that cannot be read", quote(name), "one of "+at+"/power/meters")
				}
			}
		}
		if idle := d.Power.Idle; idle != nil {
			meters(at+"/power/idle/meters", idle.Meters)
		}
		for path, e := range computes(at, d) {
			g := e.Energy
			if g == nil {
				continue
			}
			path += "/energy"
			is := func(field string, got, want float64, formula string) {
				if !near(got, want) {
					c.differ(path+"/"+field, got, want, field+" = "+formula)
				}
			}
			is("power_avg_watts", g.AvgWatts, g.Joules/g.WindowSeconds, "energy_joules / window_seconds")
			is("ops_per_watt", g.OpsPerWatt, g.Executions/g.Joules, "executions / energy_joules")
			is("gflops_per_watt", g.GFLOPSPerWatt, g.Executions*float64(e.FLOP)/g.Joules/1e9, "executions x flops / energy_joules / 1e9")
			is("throughput_per_watt", g.GBpsPerWatt, g.Executions*float64(e.Bytes)/g.Joules/1e9, "executions x bytes / energy_joules / 1e9")
			if g.MaxWatts != 0 && g.MaxWatts < g.AvgWatts*(1-rounding) {
				c.fail(path+"/power_max_watts", "below the average", number(g.MaxWatts), "at least "+number(g.AvgWatts))
			}
			if least := g.Executions * e.LatencyMS.Min / 1e3; least > windowSlack*g.WindowSeconds {
				c.fail(path+"/executions", "more executions than the window has time for", number(g.Executions),
					fmt.Sprintf("at most %s of %s ms in %s s", number(g.WindowSeconds/e.LatencyMS.Min*1e3), number(e.LatencyMS.Min), number(g.WindowSeconds)))
			}
			meters(path+"/meters", g.Meters)
		}
	}
}

// checkPower: power is unavailable where no meter that counts can be read, and nowhere else.
func checkPower(c *checker) {
	for at, d := range c.eachDevice() {
		counted := slices.ContainsFunc(d.Power.Meters, schema.PowerMeter.Counted)
		switch {
		case counted && d.Power.Unavailable != "":
			c.fail(at+"/power/unavailable", "power is said to be unavailable, but a meter can be read", quote(d.Power.Unavailable), "none")
		case !counted && d.Power.Unavailable == "":
			c.fail(at+"/power/unavailable", "no meter of a package, of memory or of a GPU can be read, and no reason says why", "", "the reason")
		}
	}
}
