package hwdetect

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/siderolabs/go-smbios/smbios"

	"hwcal/schema"
)

const askBandwidth = "; give it with --peak-bandwidth"

// memoryPeak is the bandwidth of all memory channels: the user's figure, or
// channels x MT/s x bytes from the SMBIOS table of DIMMs. That of a virtual machine
// is made up.
func memoryPeak(t tree, hypervisor string, override float64) (*schema.Peak, error) {
	if plausiblePeak(override) {
		return &schema.Peak{Value: override, Source: "--peak-bandwidth"}, nil
	}
	const table = "sys/firmware/dmi/tables/DMI"
	b := t.bytes(table)
	switch {
	case b == nil && !t.exists(table):
		return nil, errors.New("the machine shows no SMBIOS table of DIMMs (/" + table + ")" + askBandwidth)
	case hypervisor != "":
		return nil, fmt.Errorf("the SMBIOS table of DIMMs is that of a virtual machine (%s), not of the memory below it%s", hypervisor, askBandwidth)
	case b == nil:
		return nil, errors.New("the SMBIOS table of DIMMs is not readable: run as root" + askBandwidth)
	}
	dimms, err := parseDIMMs(b)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, askBandwidth)
	}
	return dimmPeak(dimms)
}

func plausiblePeak(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// dimm is one populated memory device (SMBIOS type 17).
type dimm struct {
	device, bank string // locators, free text of the board's maker
	mts          int    // configured speed in MT/s, or the rated one; 0: unknown
	rated        bool   // mts is the rated speed
	bytes        int    // width of the data path
}

func parseDIMMs(b []byte) (dimms []dimm, err error) {
	// The decoder indexes by lengths that the table claims.
	defer func() {
		if r := recover(); r != nil {
			dimms, err = nil, fmt.Errorf("the SMBIOS table is damaged: %v", r)
		}
	}()
	s, err := smbios.Decode(bytes.NewReader(b), smbios.Version{Major: 3})
	if err != nil {
		return nil, fmt.Errorf("the SMBIOS table is damaged: %w", err)
	}
	// Memory types of SMBIOS 7.18.2 that are no main memory: ROM, flash, EEPROM
	// and the like, logical non-volatile. (The library's constants are off by one.)
	const rom, eprom, logicalNV = 0x08, 0x0c, 0x1f
	for _, m := range s.MemoryDevices {
		kind := int(m.MemoryType)
		if m.Size == 0 || kind >= rom && kind <= eprom || kind == logicalNV {
			continue
		}
		d := dimm{device: m.DeviceLocator, bank: m.BankLocator, mts: int(m.ConfiguredMemorySpeed), bytes: 8}
		if d.mts == 0 || d.mts == math.MaxUint16 {
			d.mts, d.rated = int(m.Speed), true
		}
		if d.mts == math.MaxUint16 {
			d.mts = 0
		}
		if w := int(m.DataWidth); w == 16 || w == 32 { // LPDDR
			d.bytes = w / 8
		}
		dimms = append(dimms, d)
	}
	return dimms, nil
}

func dimmPeak(dimms []dimm) (*schema.Peak, error) {
	if len(dimms) == 0 {
		return nil, errors.New("the SMBIOS table lists no DIMM" + askBandwidth)
	}
	channels := map[string]dimm{}
	for _, d := range dimms {
		if d.mts == 0 {
			return nil, fmt.Errorf("the SMBIOS table does not tell the speed of DIMM %q%s", d.device, askBandwidth)
		}
		key, ok := d.channel()
		if !ok && len(dimms) > 1 {
			return nil, fmt.Errorf("the locators of the DIMMs (%q, %q) do not tell their channels%s", d.device, d.bank, askBandwidth)
		}
		if have, ok := channels[key]; !ok || d.mts < have.mts {
			channels[key] = d
		}
	}
	p := &schema.Peak{Assumptions: []string{"channels are told apart by the locators of the DIMMs"}}
	var speeds []int
	for _, key := range slices.Sorted(maps.Keys(channels)) {
		d := channels[key]
		p.Value += float64(d.mts) * float64(d.bytes) / 1e3
		speeds = append(speeds, d.mts)
		if d.rated && len(p.Assumptions) == 1 {
			p.Assumptions = append(p.Assumptions, "DIMMs run at their rated speed: the configured one is not told")
		}
	}
	speeds = sortedSet(speeds)
	p.Source = fmt.Sprintf("SMBIOS: %d channels x %d MT/s x %d bytes", len(channels), speeds[0], dimms[0].bytes)
	if len(speeds) > 1 {
		p.Source = fmt.Sprintf("SMBIOS: %d channels of %d to %d MT/s", len(channels), speeds[0], speeds[len(speeds)-1])
	}
	return p, nil
}

// The letter of a channel stands alone, or before the number of the slot. It may come
// after a socket, and is not P, which begins one: DIMM_P0_A0.
var (
	socketOf      = regexp.MustCompile(`(?i)(?:CPU|PROC|SOCKET|NODE|P)[ _-]?[0-9]+`)
	channelWord   = regexp.MustCompile(`(?i)^.*CHANNEL[ _-]*[A-Z0-9]+`)
	channelLetter = regexp.MustCompile(`(?i)^(.*DIMM[ _-]?(?:(?:CPU|PROC|SOCKET|NODE|P)[ _-]?[0-9]+[ _-]?)?[A-O])(?:[^A-Z]|$)`)
)

// channel names the channel of the DIMM as far as the locators go: "P0 CHANNEL
// A", "Controller1-ChannelB-DIMM0", "CPU2_DIMM_C1", "P1-DIMMA1".
func (d dimm) channel() (key string, ok bool) {
	sockets := socketOf.FindString(d.device) + "/" + socketOf.FindString(d.bank) + "/"
	for _, pattern := range []*regexp.Regexp{channelWord, channelLetter} {
		for _, text := range []string{d.bank, d.device} {
			if m := pattern.FindStringSubmatch(text); m != nil {
				return sockets + m[len(m)-1], true
			}
		}
	}
	return "", false
}
