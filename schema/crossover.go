package schema

// Crossover is the verdict of a fusion pattern along shapes of growing size, and
// where it flips. Shapes between those that the flips need were not measured.
type Crossover struct {
	Pattern string           `json:"fusion_pattern" jsonschema:"minLength=1" jsonschema_description:"Name of the pattern."`
	Group   string           `json:"group" jsonschema:"enum=linear,enum=conv,enum=attention,enum=elementwise,enum=network" jsonschema_description:"Group of the pattern."`
	DType   DType            `json:"dtype"`
	Threads int              `json:"threads,omitempty" jsonschema:"minimum=1" jsonschema_description:"Number of pinned threads (CPU); absent for a device that is not divided into threads."`
	Along   []string         `json:"along" jsonschema:"minItems=1" jsonschema_description:"Names of the dimensions that differ between the points; all others are the same."`
	Points  []CrossoverPoint `json:"points" jsonschema:"minItems=2" jsonschema_description:"What was measured, sorted by unfused_bytes: with warm caches, on a GPU with launches into a stream."`
	Flips   []CrossoverFlip  `json:"flips" jsonschema_description:"Where the verdict changes: one entry for each two points that follow each other, apart from inconclusive ones, and differ. Without one, the verdict is the same at every point, or nowhere decided. Two flips between neighbouring points of the same verdict are not seen."`
	Reason  string           `json:"reason" jsonschema:"minLength=1" jsonschema_description:"The points and flips in a sentence."`
}

// CrossoverPoint compares fused with unfused on one shape.
type CrossoverPoint struct {
	Shape            string  `json:"shape" jsonschema:"minLength=1" jsonschema_description:"Shape in words."`
	InputShape       []int64 `json:"input_shape" jsonschema:"minItems=1" jsonschema_description:"Shape as numbers, in the order of the words in shape."`
	UnfusedBytes     int64   `json:"unfused_bytes" jsonschema:"minimum=1" jsonschema_description:"Bytes that the operations read and write one by one."`
	UnfusedLatencyMS float64 `json:"unfused_latency_ms,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Fastest unfused sample of the block whose ratio is the median, in milliseconds, as in fusion_profiles. Absent in profiles of earlier versions."`
	FusedLatencyMS   float64 `json:"fused_latency_ms,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Fastest fused sample of the same block, in milliseconds: unfused_latency_ms / fused_latency_ms is speedup_factor."`
	Speedup          float64 `json:"speedup_factor" jsonschema:"exclusiveMinimum=0" jsonschema_description:"exp of the median over blocks of ln(unfused / fused): a ratio, above 1 the fused kernel is faster."`
	SpeedupCILow     float64 `json:"speedup_ci_low" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Lower end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	SpeedupCIHigh    float64 `json:"speedup_ci_high" jsonschema:"exclusiveMinimum=0" jsonschema_description:"Upper end of the interval of the speedup (a ratio): at 95%, all looks of the stopping rule together, of the median over independent blocks and layouts in memory; at 90% where only five layouts fit."`
	Blocks           int     `json:"blocks" jsonschema:"minimum=1" jsonschema_description:"Number of ABBA or BAAB blocks."`
	Verdict          Verdict `json:"verdict"`
	Warnings         []Code  `json:"warnings" jsonschema_description:"Codes of the guards that the pair met."`
}

// CrossoverFlip is a change of the verdict between two points. Points between them
// are inconclusive.
type CrossoverFlip struct {
	Below int     `json:"below" jsonschema:"minimum=0" jsonschema_description:"Number of the last point of the verdict before, from 0."`
	Above int     `json:"above" jsonschema:"minimum=1" jsonschema_description:"Number of the first point of the verdict behind, from 0."`
	From  Verdict `json:"from"`
	To    Verdict `json:"to"`
}

// Flips says where the verdict of sorted points changes. The measuring side and
// validation share it, so that flips always agree with their points.
func Flips(points []CrossoverPoint) []CrossoverFlip {
	flips := []CrossoverFlip{}
	last := -1
	for i, p := range points {
		if p.Verdict == Inconclusive {
			continue
		}
		if last >= 0 && points[last].Verdict != p.Verdict {
			flips = append(flips, CrossoverFlip{last, i, points[last].Verdict, p.Verdict})
		}
		last = i
	}
	return flips
}
