package hwdetect

import (
	"slices"
	"strings"
	"testing"
)

func TestDIMMPeak(t *testing.T) {
	d := func(device, bank string, mts int) dimm { return dimm{device: device, bank: bank, mts: mts, bytes: 8} }
	for _, c := range []struct {
		name  string
		dimms []dimm
		gbps  float64
		err   string
	}{
		{"two DIMMs a channel", []dimm{d("DIMM 0", "P0 CHANNEL A", 3200), d("DIMM 1", "P0 CHANNEL A", 3200), d("DIMM 0", "P0 CHANNEL B", 3200)}, 51.2, ""},
		{"letter", []dimm{d("DIMM_A1", "", 2400), d("DIMM_A2", "", 2400), d("DIMM_B1", "", 2400)}, 38.4, ""},
		{"socket in the other locator", []dimm{d("CPU1_DIMM_A1", "CHANNEL A", 2400), d("CPU2_DIMM_A1", "CHANNEL A", 2400)}, 38.4, ""},
		{"one DIMM needs no locator", []dimm{d("", "", 2400)}, 19.2, ""},
		{"slower DIMM rules its channel", []dimm{d("DIMM_A1", "", 3200), d("DIMM_A2", "", 2400)}, 19.2, ""},
		{"Dell's A1 is socket and slot", []dimm{d("A1", "Not Specified", 2400), d("A2", "Not Specified", 2400)}, 0, "do not tell their channels"},
		{"letter after the socket", []dimm{d("DIMM_P0_A0", "BANK 0", 3200), d("DIMM_P0_A1", "BANK 0", 3200), d("DIMM_P0_B0", "BANK 0", 3200), d("DIMM_P1_A0", "BANK 0", 3200)}, 76.8, ""},
		{"the same with a bank", []dimm{d("DIMM_P0_A0", "P0-CH A", 3200), d("DIMM_P0_B0", "P0-CH B", 3200)}, 51.2, ""},
		{"no number of a slot", []dimm{d("DIMM_CPU0_A", "", 4800), d("DIMM_CPU0_B", "", 4800)}, 76.8, ""},
		{"a word after DIMM", []dimm{d("DIMM Slot 0", "BANK 0", 3200), d("DIMM Slot 1", "BANK 0", 3200)}, 0, "do not tell their channels"},
		{"a socket and no letter", []dimm{d("DIMM_P0", "", 3200), d("DIMM_P1", "", 3200)}, 0, "do not tell their channels"},
		{"speed unknown", []dimm{d("DIMM_A1", "", 0)}, 0, "speed"},
		{"none", nil, 0, "no DIMM"},
	} {
		p, err := dimmPeak(c.dimms)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "--peak-bandwidth") {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
		case err != nil || p.Value < c.gbps-1e-9 || p.Value > c.gbps+1e-9:
			t.Errorf("%s: got %+v, %v, want %v GB/s", c.name, p, err, c.gbps)
		}
	}
}

// device17 is a memory device of an SMBIOS table: its widths in bits, speeds in MT/s.
func device17(kind byte, width, size, speed, configured uint16) []byte {
	b := make([]byte, 0x28)
	b[0], b[1] = 17, byte(len(b))
	for at, x := range map[int]uint16{0x08: width, 0x0a: width, 0x0c: size, 0x15: speed, 0x20: configured} {
		b[at], b[at+1] = byte(x), byte(x>>8)
	}
	b[0x10], b[0x11], b[0x12] = 1, 2, kind
	return append(b, "DIMM_A1\x00BANK 0\x00\x00"...)
}

func TestParseDIMMs(t *testing.T) {
	const ddr4, lpddr5, flash, unknown = 0x1a, 0x23, 0x09, 0xffff
	for _, c := range []struct {
		name  string
		table []byte
		want  []dimm
	}{
		{"configured below its rated speed", device17(ddr4, 64, 8192, 3200, 2933), []dimm{{"DIMM_A1", "BANK 0", 2933, false, 8}}},
		{"rated speed alone", device17(ddr4, 64, 8192, 3200, 0), []dimm{{"DIMM_A1", "BANK 0", 3200, true, 8}}},
		{"neither speed", device17(ddr4, 64, 8192, unknown, unknown), []dimm{{"DIMM_A1", "BANK 0", 0, true, 8}}},
		{"LPDDR of 32 bits", device17(lpddr5, 32, 8192, 6400, 6400), []dimm{{"DIMM_A1", "BANK 0", 6400, false, 4}}},
		{"an empty slot", device17(ddr4, 64, 0, 3200, 3200), nil},
		{"flash", device17(flash, 64, 16, 33, 33), nil},
	} {
		got, err := parseDIMMs(append(c.table, 127, 4, 0, 0, 0, 0))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// The source says of which speeds the channels are, and that they are rated ones.
func TestDIMMPeakSource(t *testing.T) {
	p, err := dimmPeak([]dimm{{"DIMM_A1", "", 2400, false, 8}, {"DIMM_B1", "", 3200, true, 8}, {"DIMM_C1", "", 3200, true, 8}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Source != "SMBIOS: 3 channels of 2400 to 3200 MT/s" || len(p.Assumptions) != 2 || !strings.Contains(p.Assumptions[1], "rated speed") {
		t.Errorf("%+v", p)
	}
}

func FuzzParseDIMMs(f *testing.F) {
	f.Add([]byte{17, 0x28, 0, 0, 1, 2, 3})
	f.Add([]byte{17, 4, 0, 0, 0, 0, 127, 4, 0, 0, 0, 0})
	f.Add([]byte{17, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if dimms, err := parseDIMMs(b); err == nil {
			if p, err := dimmPeak(dimms); err == nil && !plausiblePeak(p.Value) {
				t.Errorf("peak %v", p.Value)
			}
		}
	})
}

// The SMBIOS table of a virtual machine is made up, whoever may read it.
func TestDIMMsOfVirtualMachine(t *testing.T) {
	s := unpack(t, machines+"/server-2x-gold-6248.txtar")
	s.CPUID.Hypervisor = "KVMKVMKVM"
	d := describe(t, s, Options{}).Devices[0]
	if d.Theoretical.BandwidthGBps != nil {
		t.Errorf("bandwidth %+v", d.Theoretical.BandwidthGBps)
	}
	for _, u := range d.Unavailable {
		if u.What == "theoretical.bandwidth_gbps" && !strings.Contains(u.Reason, "virtual machine (kvm)") {
			t.Errorf("reason %q", u.Reason)
		}
	}
}
