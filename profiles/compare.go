package profiles

import (
	"math"

	"hwcal/schema"
)

// significant is the share by which a figure must change to count: below it two
// runs on an idle machine differ by chance, whatever their intervals say.
const significant = 0.03

// Verdicts of a Difference.
const (
	Better      = "better"
	Worse       = "worse"
	Same        = "same"         // changed by at most 3%
	WithinNoise = "within noise" // changed by more, but the intervals of the medians meet
	Noisy       = "noisy"        // changed by more, but a side warns against its own figure
)

// Kinds of regression.
const (
	RegressionWorse = "worse" // a figure is significantly worse
	RegressionFlip  = "flip"  // fusing pays on one side and costs on the other
)

// Comparison is what changed from an old profile to a new one.
type Comparison struct {
	SameHardware bool `json:"same_hardware"` // the fingerprints agree
	// Differences are in the order of the new profile, unchanged figures included.
	Differences []Difference      `json:"differences"`
	OnlyOld     []Unmatched       `json:"only_old"`
	OnlyNew     []Unmatched       `json:"only_new"`
	Summary     ComparisonSummary `json:"summary"`
}

// Difference is a figure that both profiles have.
type Difference struct {
	Path   string `json:"path"` // JSON Pointer into the new profile
	Group  string `json:"group"`
	Device string `json:"device"`
	What   string `json:"what"` // coordinates, for a person
	Unit   string `json:"unit"`
	// Old and New are the best samples, as noise only ever takes away; of a fused
	// pair they are the speedups, and the times of both sides that the profile tells.
	Old float64 `json:"old"`
	New float64 `json:"new"`
	// Change is New / Old - 1 (a share), or Old / New - 1 where lower is better: above 0 is
	// better, and twice as fast is 1 of a rate and of a time.
	Change      float64 `json:"change"`
	Significant bool    `json:"significant"`
	Verdict     string  `json:"verdict"`
	// Regression is the kind of regression; empty for none. A lower speedup is none: the
	// times tell whether anything became slower.
	Regression string `json:"regression,omitempty"`
	// OldFusion and NewFusion are the verdicts of a fused pair.
	OldFusion schema.Verdict `json:"old_fusion_verdict,omitempty"`
	NewFusion schema.Verdict `json:"new_fusion_verdict,omitempty"`
}

// VerdictChanged says whether the advice about fusing is another one.
func (d Difference) VerdictChanged() bool { return d.OldFusion != d.NewFusion }

// Unmatched is a figure that one profile lacks. Its path leads into the other.
type Unmatched struct {
	Path   string  `json:"path"`
	Group  string  `json:"group"`
	Device string  `json:"device"`
	What   string  `json:"what"`
	Unit   string  `json:"unit"`
	Best   float64 `json:"best"`
}

// Compare matches the figures of two profiles by their coordinates: device,
// operation or kernel, dtype, threads, class of cores, shape, level, size of pages
// and NUMA nodes. A bandwidth is the best of the working sets of its level that both
// profiles have, because an outer or inner one is another figure.
func Compare(old, new *schema.Profile) Comparison {
	c := Comparison{
		SameHardware: old.Metadata.Fingerprint == new.Metadata.Fingerprint,
		Differences:  []Difference{}, OnlyOld: []Unmatched{}, OnlyNew: []Unmatched{},
	}
	before, after := indexFigures(old), indexFigures(new)
	for _, k := range after.order {
		if before.of[k] == nil {
			c.OnlyNew = append(c.OnlyNew, unmatched(k, after.of[k]))
			continue
		}
		c.Differences = append(c.Differences, difference(k, before.of[k], after.of[k]))
	}
	for _, k := range before.order {
		if after.of[k] == nil {
			c.OnlyOld = append(c.OnlyOld, unmatched(k, before.of[k]))
		}
	}
	c.Summary = summarize(&c)
	return c
}

func unmatched(k figureKey, all []figure) Unmatched {
	f := bestFigure(all)
	return Unmatched{f.path, k.group, k.device, k.what, f.unit, f.best}
}

func difference(k figureKey, before, after []figure) Difference {
	old, new := comparedPair(before, after)
	d := Difference{
		Path: new.path, Group: k.group, Device: k.device, What: k.what, Unit: new.unit,
		Old: old.best, New: new.best, OldFusion: old.fusion, NewFusion: new.fusion,
		// A profile may hold anything that is positive; JSON has no infinity.
		Change: min(new.best/old.best, math.MaxFloat64) - 1,
	}
	if new.lowerIsBetter {
		d.Change = min(old.best/new.best, math.MaxFloat64) - 1
	}
	switch {
	case math.Abs(d.Change) <= significant:
		d.Verdict = Same
	case old.noisy || new.noisy:
		d.Verdict = Noisy
	case !apart(old, new):
		d.Verdict = WithinNoise
	case d.Change > 0:
		d.Verdict, d.Significant = Better, true
	default:
		d.Verdict, d.Significant = Worse, true
		if new.fusion == "" {
			d.Regression = RegressionWorse
		}
	}
	if flipped(old.fusion, new.fusion) && !old.noisy && !new.noisy {
		d.Regression = RegressionFlip
	}
	return d
}

// leastSamples have an interval of their median at 95%; that of fewer is what they span, which chance alone sets apart.
const leastSamples = 6

// apart says whether the intervals of the medians moved past each other in the
// direction in which the best samples moved.
func apart(old, new figure) bool {
	if min(old.n, new.n) < leastSamples {
		return false
	}
	if new.best > old.best {
		return new.low > old.high
	}
	return new.high < old.low
}

// flipped says whether a compiler that follows the verdict now does the opposite.
// That counts in both directions: one of the two runs gave advice that costs time.
func flipped(old, new schema.Verdict) bool {
	return old == schema.Fuse && new == schema.Avoid || old == schema.Avoid && new == schema.Fuse
}
