package main

import (
	"fmt"
	"slices"
	"strings"

	"hwcal/schema"
)

// unavailable lists what is missing, and why. What is missing for the same reason
// stands together: a spent budget leaves out much at once.
func (p *page) unavailable(heading string, all []schema.Unavailable) {
	if len(all) == 0 {
		return
	}
	p.heading("%s", heading)
	var reasons []string
	byReason := map[string][]string{}
	for _, u := range all {
		if !slices.Contains(reasons, u.Reason) {
			reasons = append(reasons, u.Reason)
		}
		byReason[u.Reason] = append(byReason[u.Reason], u.What)
	}
	for _, reason := range reasons {
		whats := byReason[reason]
		if len(whats) == 1 {
			p.item("%s: %s", whats[0], reason)
			continue
		}
		n := len(whats)
		if n > examples+1 {
			whats = append(whats[:examples:examples], fmt.Sprintf("and %d more", n-examples))
		}
		p.item("%s (%d): %s", reason, n, strings.Join(whats, "; "))
	}
}
