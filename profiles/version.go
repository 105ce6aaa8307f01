package profiles

import (
	"fmt"
	"regexp"
	"strconv"

	"hwcal/schema"
)

var semver = regexp.MustCompile(`^([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})$`)

// checkVersion looks at schema_version before the schema does: a profile of
// another version breaks the schema in many places, of which none says why.
// Whatever else is wrong with the field is left to the schema.
func checkVersion(d *document) *Finding {
	const path = "/schema_version"
	off, ok := d.find(path)
	if !ok {
		return nil
	}
	v, _ := d.root.child("schema_version")
	version, _ := v.scalar.(string)
	order, ok := compareVersions(version, schema.Version)
	switch {
	case !ok || order == 0:
		return nil
	case order > 0:
		return d.at(off, path, ruleVersion, fmt.Sprintf(
			"schema_version %s is newer than %s, which this version reads; update calibrate", version, schema.Version))
	}
	return d.at(off, path, ruleVersion, fmt.Sprintf(
		"schema_version %s is older than %s, which this version reads; calibrate again", version, schema.Version))
}

func compareVersions(a, b string) (order int, ok bool) {
	x, y := semver.FindStringSubmatch(a), semver.FindStringSubmatch(b)
	if x == nil || y == nil {
		return 0, false
	}
	for i := 1; i <= 3; i++ {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m - n, true
		}
	}
	return 0, true
}
