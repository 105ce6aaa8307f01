package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"hwcal/bench"
	"hwcal/profiles"
	"hwcal/schema"
)

// loadInterrupted reads the profile that --resume names and holds it against the run
// that p will be. A run that it does not belong to is asked for by a wrong command line.
func loadInterrupted(file string, p *schema.Profile) (*schema.Profile, error) {
	data, err := profiles.ReadFile(file)
	file = profiles.NameOf(file)
	if err != nil {
		return nil, err
	}
	old, err := profiles.Parse(data)
	if invalid := (*profiles.InvalidError)(nil); errors.As(err, &invalid) {
		invalid.Name = file
	}
	if err != nil {
		return nil, err
	}
	if findings := profiles.Validate(data); len(findings) > 0 {
		return nil, &profiles.InvalidError{Name: file, Findings: findings}
	}
	switch was, is := old.Metadata, p.Metadata; {
	case was.Mode != is.Mode:
		return nil, usagef("%s is of mode %s, not %s", file, was.Mode, is.Mode)
	case was.Fingerprint != is.Fingerprint:
		return nil, usagef("%s is of other devices: %s", file, was.HardwareName)
	case !slices.Equal(old.Host.AllowedCPUs, p.Host.AllowedCPUs):
		return nil, usagef("%s was measured where the CPUs %s were allowed, not %s", file, ranges(old.Host.AllowedCPUs), ranges(p.Host.AllowedCPUs))
	case was.ToolVersion != is.ToolVersion:
		return nil, usagef("%s is by calibrate %s, not %s", file, was.ToolVersion, is.ToolVersion)
	case was.Seed != is.Seed:
		return nil, usagef("%s has the seed %d, not %d", file, was.Seed, is.Seed)
	case was.HardwareName != is.HardwareName:
		return nil, usagef("%s is named %q, not %q", file, was.HardwareName, is.HardwareName)
	}
	for i, d := range old.Devices {
		if written(d.Theoretical) != written(p.Devices[i].Theoretical) {
			return nil, usagef("%s has other theoretical peaks of %s: want the same --peak-gflops and --peak-bandwidth", file, d.ID)
		}
	}
	for _, d := range old.Devices {
		if d.Resume != nil {
			return old, nil
		}
	}
	return nil, usagef("%s is whole: there is nothing to resume", file)
}

// written is how a profile has the peaks: what is read from one lacks empty maps.
func written(t schema.Theoretical) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // there is nothing in them that JSON lacks
	}
	return string(data)
}

// earlier is what an interrupted profile has of a device; nil if nothing was measured of it.
func earlier(old *schema.Profile, device int) *bench.Earlier {
	if old == nil || slices.ContainsFunc(old.Devices[device].Unavailable, func(u schema.Unavailable) bool { return u.What == schema.Measurements }) {
		return nil
	}
	e := &bench.Earlier{Device: old.Devices[device]}
	prefix := fmt.Sprintf("/devices/%d", device)
	for _, w := range old.Warnings {
		if path, of := strings.CutPrefix(w.Path, prefix); of && (path == "" || path[0] == '/') {
			w.Path = path
			e.Warnings = append(e.Warnings, w)
		}
	}
	return e
}

// interruptedName is where an interrupted run leaves what it has: never in place of a
// whole profile, nor beside a device or a pipe, nor in place of what a run left that this one does not resume. A new
// name is claimed by an empty file, as several runs may be interrupted at once.
func interruptedName(output, standard, resumed string) string {
	if info, err := os.Stat(output); profiles.Stream(output) != nil || err == nil && !info.Mode().IsRegular() {
		output = standard
	}
	name := stem(output) + ".interrupted.json"
	for n := 2; !sameFile(name, resumed) && !claim(name); n++ {
		name = fmt.Sprintf("%s.interrupted-%d.json", stem(output), n)
	}
	return name
}

// claim makes an empty file, unless there is one. What else may fail will fail when the file is written, which says so.
func claim(file string) bool {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		err = f.Close()
	}
	return !errors.Is(err, fs.ErrExist)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, failed := os.Stat(b)
	return err == nil && failed == nil && os.SameFile(one, other)
}

// keepInterrupted writes what was measured and says how to go on.
func keepInterrupted(p *schema.Profile, file string) error {
	if err := profiles.Save(file, p); err != nil {
		if info, failed := os.Stat(file); failed == nil && info.Size() == 0 {
			err = errors.Join(err, os.Remove(file))
		}
		return exitError{exitInterrupted, rescue(p, err)}
	}
	return exitError{exitInterrupted, fmt.Errorf("interrupted, wrote %s; the same command with --resume %[1]s continues", file)}
}
