package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hwcal/schema"
)

// examples is how many warnings of one code are printed: a noisy host gives one
// for each figure.
const examples = 4

// warnings prints the warnings by code, each with the figure that it is about.
func (p *page) warnings(profile *schema.Profile) {
	if len(profile.Warnings) == 0 {
		return
	}
	var codes []schema.Code
	byCode := map[schema.Code][]schema.Warning{}
	for _, w := range profile.Warnings {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
		byCode[w.Code] = append(byCode[w.Code], w)
	}
	p.heading("Warnings")
	g := newFacts()
	for _, code := range codes {
		all := byCode[code]
		label := string(code)
		if len(all) > 1 {
			label += fmt.Sprintf(" (%d)", len(all))
		}
		for i, w := range all {
			if i == examples && len(all) > examples+1 {
				g.row("", fmt.Sprintf("and %d more in the profile", len(all)-examples))
				break
			}
			text := w.Message
			if about := subject(profile, w.Path); about != "" {
				text = about + ": " + text
			}
			g.row(label, text)
			label = ""
		}
	}
	p.grid(g)
}

// subject names what a JSON Pointer leads to, or returns the pointer itself
// where it is no entry of a device.
func subject(p *schema.Profile, path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[1] != "devices" {
		return path
	}
	device, err := strconv.Atoi(parts[2])
	if err != nil || device < 0 || device >= len(p.Devices) {
		return path
	}
	d := &p.Devices[device]
	if len(parts) == 3 {
		return d.ID
	}
	if len(parts) < 5 {
		return path
	}
	if len(parts) == 6 && parts[3] == "quality" && parts[4] == "controls" && d.Quality != nil {
		if j, err := strconv.Atoi(parts[5]); err == nil && j >= 0 && j < len(d.Quality.Controls) {
			k := &d.Quality.Controls[j]
			return fmt.Sprintf("control %s of %s %s %s", k.Kind, k.Pattern, k.DType, dims(k.InputShape))
		}
	}
	i, err := strconv.Atoi(parts[4])
	if err != nil || i < 0 {
		return path
	}
	if len(parts) == 7 && parts[3] == "fusion_crossovers" && i < len(d.FusionCrossovers) && parts[5] == "points" {
		x := &d.FusionCrossovers[i]
		if j, err := strconv.Atoi(parts[6]); err == nil && j >= 0 && j < len(x.Points) {
			return fmt.Sprintf("crossover %s %s %s", x.Pattern, x.DType, dims(x.Points[j].InputShape))
		}
	}
	if len(parts) != 5 {
		return path
	}
	switch list := parts[3]; {
	case list == "compute" && i < len(d.Compute):
		return computeName(&d.Compute[i])
	case list == "operation_profiles" && i < len(d.OperationProfiles):
		return computeName(&d.OperationProfiles[i])
	case list == "bandwidth" && i < len(d.Bandwidth):
		b := &d.Bandwidth[i]
		return fmt.Sprintf("%s %s %s, %s", b.Level, b.Pattern, capacity(b.WorkingSetBytes), threadCount(b.Threads))
	case list == "latency" && i < len(d.Latency):
		l := &d.Latency[i]
		if l.PageBytes == 0 {
			return fmt.Sprintf("%s latency", l.Level)
		}
		return fmt.Sprintf("%s latency, %s pages", l.Level, capacity(l.PageBytes))
	case list == "fusion_profiles" && i < len(d.FusionProfiles):
		return pairName(&d.FusionProfiles[i])
	}
	return path
}

func computeName(c *schema.Compute) string {
	s := c.Operation + " " + string(c.DType)
	if len(c.InputShape) > 0 {
		s += " " + dims(c.InputShape)
	}
	return s + ", " + threadCount(c.Threads)
}
