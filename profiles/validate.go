package profiles

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"hwcal/schema"
)

// A rule is one thing that must hold between the figures of a profile. To add
// one, write a function in a file rule_*.go and name it here.
type rule struct {
	name  string // stable: scripts match on it
	check func(*checker)
}

var rules = []rule{
	{"stat-order", checkStatOrder},
	{"stat-best", checkStatBest},
	{"stat-spread", checkStatSpread},
	{"stat-interval", checkStatInterval},
	{"gflops-consistent", checkGFLOPS},
	{"padding", checkPadding},
	{"bytes-written", checkWritten},
	{"arithmetic-intensity", checkIntensity},
	{"shape", checkShapes},
	{"matmul-shape", checkMatmulShape},
	{"cpus", checkCPUs},
	{"threads", checkThreads},
	{"numa", checkNUMA},
	{"efficiency", checkEfficiency},
	{"bound-by", checkBoundBy},
	{"implausible", checkImplausible},
	{"traffic", checkTraffic},
	{"traffic-level", checkTrafficLevel},
	{"energy", checkEnergy},
	{"power", checkPower},
	{"latency-table", checkLatencyTables},
	{"theoretical-peak", checkTheoretical},
	{"level-order", checkLevelOrder},
	{"level-size", checkLevelSizes},
	{"plateau", checkPlateau},
	{"fusion-gflops", checkFusionGFLOPS},
	{"fusion-samples", checkFusionSamples},
	{"launch", checkLaunch},
	{"fusion-parts", checkFusionParts},
	{"fusion-speedup", checkFusionSpeedup},
	{"fusion-memory", checkFusionMemory},
	{"fusion-improvement", checkFusionImprovement},
	{"fusion-explained", checkFusionExplained},
	{"fusion-verdict", checkFusionVerdict},
	{"controls", checkControls},
	{"crossover-order", checkCrossoverOrder},
	{"crossover-verdict", checkCrossoverVerdict},
	{"crossover-flips", checkCrossoverFlips},
	{"summary-peak", checkSummaryPeak},
	{"summary-matmul", checkSummaryMatmul},
	{"summary-bandwidth", checkSummaryBandwidth},
	{"ridge-point", checkRidge},
	{"resume", checkResume},
	{"unavailable-reason", checkUnavailable},
	{"unique", checkUnique},
	{"fingerprint", checkFingerprint},
	{"date", checkDate},
	{"units", checkUnits},
	{"warning-path", checkWarningPath},
	{"warning-entry", checkWarningEntries},
}

// Rules lists the names that a Finding's Rule can have.
func Rules() []string {
	names := []string{ruleSyntax, ruleLimit, ruleVersion, ruleSchema}
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

// Validate finds what is wrong with a profile: nil if nothing is. A text that
// is no JSON, or breaks the schema, is not examined further, because the rules
// need figures that are where they belong.
func Validate(data []byte) []Finding { return validateAt(data, time.Now()) }

// ValidateFile validates a file; "-" is standard input. The error is about
// reading it.
func ValidateFile(path string) ([]Finding, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Validate(data), nil
}

func validateAt(data []byte, now time.Time) []Finding {
	doc, p, findings := open(data)
	if len(findings) > 0 {
		return findings
	}
	c := &checker{Profile: p, doc: doc, now: now, warnings: indexWarnings(p), peaks: indexPeaks(p)}
	for _, r := range rules {
		c.rule = r.name
		r.check(c)
	}
	return truncate(c.findings)
}

// MaxFindings keeps the report on a profile that is wrong throughout readable.
const MaxFindings = 200

func truncate(findings []Finding) []Finding {
	if len(findings) <= MaxFindings {
		return findings
	}
	last := findings[MaxFindings-1]
	return append(findings[:MaxFindings:MaxFindings], Finding{
		Rule: ruleLimit, Message: fmt.Sprintf("more than %d findings; the rest is not shown", MaxFindings),
		Line: last.Line, Column: last.Column,
	})
}

// rounding is the relative difference that two figures of the same thing may
// have: a writer may print three digits, and a wrong unit or a stale figure is
// off by more.
const rounding = 1e-3

// near compares within rounding. To what is infinite, as a quotient of tiny figures is, nothing is near.
func near(a, b float64) bool {
	return math.Abs(a-b) <= rounding*max(math.Abs(a), math.Abs(b)) && !math.IsInf(a-b, 0)
}

// checker is what a rule sees: the profile, and where to put its findings.
type checker struct {
	*schema.Profile
	doc      *document
	now      time.Time
	warnings warningIndex
	peaks    peakIndex
	rule     string // the rule that runs
	findings []Finding
}

// fail records a finding with both values.
func (c *checker) fail(path, message, got, want string) {
	if len(c.findings) > MaxFindings {
		return
	}
	off, _ := c.doc.find(path)
	f := c.doc.at(off, path, c.rule, message)
	f.Got, f.Want = got, want
	c.findings = append(c.findings, *f)
}

// differ records that a figure is not what others make it: want is that
// figure, formula how it comes about.
func (c *checker) differ(path string, got, want float64, formula string) {
	c.fail(path, formula+" does not hold", number(got), number(want))
}

// number prints enough digits to tell two figures apart that differ by more
// than rounding.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 8, 64) }
