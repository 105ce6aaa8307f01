package hwdetect

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hwcal/schema"
)

var update = flag.Bool("update", false, "rewrite the expected descriptions of the recorded machines")

const machines = "../testdata/machines"

// unpack lays out a recorded machine below a temporary folder. The conventions
// of its archive are told in testdata/machines/README.md.
func unpack(t *testing.T, file string) System {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("recorded machines need symbolic links and colons in file names")
	}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	s := System{Root: root, OS: "linux", Arch: "amd64"}
	if strings.Contains(file, "arm64") {
		s.Arch = "arm64"
	}
	for _, f := range archive.Files {
		if f.Name == "cpuid.json" {
			if err := json.Unmarshal(f.Data, &s.CPUID); err != nil {
				t.Fatalf("%s: cpuid.json: %v", file, err)
			}
			continue
		}
		expand(t, f.Name, "", func(name, number string) {
			name, target, link := strings.Cut(name, " -> ")
			data := bytes.ReplaceAll(f.Data, []byte("{}"), []byte(number))
			if plain, ok := strings.CutSuffix(name, ".hex"); ok {
				name = plain
				text := strings.Join(strings.Fields(string(data)), "")
				if data, err = hex.DecodeString(text); err != nil {
					t.Fatalf("%s: %s: %v", file, name, err)
				}
			}
			full := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if link {
				err = os.Symlink(target, full)
			} else {
				err = os.WriteFile(full, data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	return s
}

// expand calls do for each name that the lists in braces stand for, with the
// number that the first brace has in it.
func expand(t *testing.T, name, number string, do func(name, number string)) {
	t.Helper()
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		do(name, number)
		return
	}
	list, after, _ := strings.Cut(rest, "}")
	cpus, err := parseCPUList(list)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, cpu := range cpus {
		n := strconv.Itoa(cpu)
		if number != "" {
			expand(t, before+n+after, number, do)
		} else {
			expand(t, before+n+after, n, do)
		}
	}
}

// description is what the test of a machine pins.
type description struct {
	HardwareName string
	Slug         string
	Host         schema.Host
	Devices      []schema.Device
	Unavailable  []schema.Unavailable
}

func describe(t *testing.T, s System, o Options) description {
	t.Helper()
	m, err := s.Detect(o)
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, m)
	name := HardwareName(m.Devices)
	return description{name, Slug(name), m.Host, m.Devices, m.Unavailable}
}

// checkInvariants are what the profile's schema demands of any machine.
func checkInvariants(t *testing.T, m Machine) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("null")) {
		t.Errorf("null in %s", b)
	}
	c := m.Devices[0].CPU
	if m.Devices[0].ID != "cpu0" || m.Devices[0].Name == "" || c == nil {
		t.Fatalf("first device is %+v, want a named cpu0", m.Devices[0])
	}
	if c.Sockets < 1 || c.Cores < c.Sockets || c.Threads < c.Cores || len(c.UsedCPUs) < 1 || len(c.CoreClasses) < 1 {
		t.Errorf("inconsistent counts: %+v", c)
	}
}

func TestRecordedMachines(t *testing.T) {
	files, err := filepath.Glob(machines + "/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("found %d machines, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			got, err := json.MarshalIndent(describe(t, unpack(t, file), Options{}), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".txtar") + ".json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got)+"\n", "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// An empty root is a machine that tells nothing: one CPU, and reasons.
func TestEmptyRoot(t *testing.T) {
	got := describe(t, System{Root: t.TempDir(), OS: "plan9", Arch: "mips"}, Options{})
	d := got.Devices[0]
	if d.Name != "unknown mips CPU" || d.CPU.Threads != 1 || len(d.CPU.ISA) != 0 || len(d.Theoretical.PeakGFLOPS) != 0 {
		t.Errorf("got %+v %+v", d, d.CPU)
	}
	missing := map[string]bool{}
	for _, u := range d.Unavailable {
		missing[u.What] = u.Reason != ""
	}
	for _, what := range []string{"theoretical.peak_gflops.fp32", "theoretical.bandwidth_gbps"} {
		if !missing[what] {
			t.Errorf("no reason for the lack of %s in %v", what, d.Unavailable)
		}
	}
	if d.Power.Unavailable == "" {
		t.Error("no reason for the lack of power meters")
	}
}

// The machine of the test, whatever it is, can be described.
func TestThis(t *testing.T) {
	got := describe(t, This(), Options{})
	if got.Host.OS != runtime.GOOS || got.Host.Arch != runtime.GOARCH {
		t.Errorf("host is %s/%s", got.Host.OS, got.Host.Arch)
	}
	t.Logf("%s: %v", got.HardwareName, got.Devices[0].CPU.ISA)
}

func TestOptions(t *testing.T) {
	s := System{Root: t.TempDir(), Arch: "amd64", NumCPU: 4}
	m, err := s.Detect(Options{PeakGFLOPS: 123, PeakBandwidth: 45, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	d := m.Devices[0]
	if p := d.Theoretical.PeakGFLOPS[schema.FP32]; p.Value != 123 || p.Source != "--peak-gflops" {
		t.Errorf("fp32 peak %+v", p)
	}
	if p := d.Theoretical.BandwidthGBps; p == nil || p.Value != 45 || p.Source != "--peak-bandwidth" {
		t.Errorf("bandwidth %+v", p)
	}
	if diff := cmp.Diff([]int{0, 1}, d.CPU.UsedCPUs); diff != "" {
		t.Error(diff)
	}
	for _, n := range []int{-1, 5} {
		if _, err := s.Detect(Options{Threads: n}); err == nil || !strings.Contains(err.Error(), "want 1 to 4") {
			t.Errorf("%d threads of 4: error %v", n, err)
		}
	}
}
