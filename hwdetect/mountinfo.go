package hwdetect

import (
	"slices"
	"strings"
)

// mount is one line of proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	root, point string   // folder of the file system that is mounted, and where
	fstype      string   // cgroup and cgroup2 among others
	options     []string // of the file system: the controllers of a v1 hierarchy
}

// parseMountinfo lists the mounts. Fields are separated by single spaces; a "-"
// ends the optional ones.
func parseMountinfo(b []byte) []mount {
	var mounts []mount
	for line := range strings.Lines(string(b)) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		mounts = append(mounts, mount{
			root: unescapeMount(left[3]), point: unescapeMount(left[4]),
			fstype: right[0], options: strings.Split(right[2], ","),
		})
	}
	return mounts
}

// unescapeMount undoes the kernel's octal escapes of space, tab, newline and
// backslash in paths.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// membership is one line of proc/self/cgroup (cgroups(7)): ID:CONTROLLERS:PATH,
// with no controllers for the v2 hierarchy.
type membership struct {
	controllers []string
	path        string
}

func parseCgroup(b []byte) []membership {
	var all []membership
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		m := membership{path: parts[2]}
		if parts[1] != "" {
			m.controllers = strings.Split(parts[1], ",")
		}
		all = append(all, m)
	}
	return all
}

// owns says whether the mount shows the hierarchy of the membership.
func (m mount) owns(c membership) bool {
	if m.fstype == "cgroup2" {
		return len(c.controllers) == 0
	}
	return m.fstype == "cgroup" && len(c.controllers) > 0 && !slices.ContainsFunc(c.controllers, func(name string) bool {
		return !slices.Contains(m.options, name)
	})
}

// outside says that the mount begins above the cgroup namespace of the process,
// as that of a host's hierarchy does: its groups have other names than
// proc/self/cgroup tells (cgroup_namespaces(7)).
func (m mount) outside() bool { return m.root == "/.." || strings.HasPrefix(m.root, "/../") }

// cpu says whether the CPU quota is that of this membership: the v1 hierarchy with
// the controller, or else v2.
func (c membership) cpu(all []membership) bool {
	v1 := func(c membership) bool { return slices.Contains(c.controllers, "cpu") }
	return v1(c) || len(c.controllers) == 0 && !slices.ContainsFunc(all, v1)
}
