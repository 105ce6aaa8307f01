package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"hwcal/profiles"
	"hwcal/schema"
)

func drawn(t *testing.T, p *schema.Profile, d *schema.Device, format string) []byte {
	t.Helper()
	threads, err := rooflineThreads(d, 0)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := drawRoofline(p, d, profiles.NewRoofline(d, threads, schema.DTypes()), format)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// texts are those of an SVG, in their order.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var all []string
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for inside := false; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				all = append(all, string(token))
			}
		}
	}
}

func TestRooflineGolden(t *testing.T) {
	const file = "../testdata/golden/roofline.txt"
	p := golden(t)
	svg := drawn(t, p, &p.Devices[0], "svg")
	got := strings.Join(texts(t, svg), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Equal(svg, drawn(t, p, &p.Devices[0], "svg")) {
		t.Error("drawn again, the picture is another")
	}
	for _, style := range []string{"font-family:'Liberation Sans',Arial,", "stroke:#000000"} {
		if !bytes.Contains(svg, []byte(style)) {
			t.Errorf("the picture has no %s", style)
		}
	}
}

func TestRooflinePNG(t *testing.T) {
	p := golden(t)
	image, err := png.Decode(bytes.NewReader(drawn(t, p, &p.Devices[0], "png")))
	if err != nil {
		t.Fatal(err)
	}
	if width := image.Bounds().Dx(); width != int(sheetWidth.Dots(pngDPI)) {
		t.Errorf("%d pixels wide", width)
	}
	if r, g, b, a := image.At(0, 0).RGBA(); r+g+b+a != 4*0xffff {
		t.Error("the paper is not white")
	}
}

// TestRooflineExtreme: whatever a profile may say is drawn in no time, as a whole document.
func TestRooflineExtreme(t *testing.T) {
	evil := "\x1b[2J\x07\u202e\r\n<&\"root# " + strings.Repeat("A", 5000)
	for name, change := range map[string]func(p *schema.Profile, d *schema.Device){
		"hostile names": func(p *schema.Profile, d *schema.Device) {
			p.Metadata.HardwareName, d.ID, d.Name = evil, evil, evil
			d.Bandwidth[0].Pattern, d.Bandwidth[0].GBps.Best = evil, 1e4
			d.OperationProfiles[1].Operation = evil
			d.FusionProfiles[0].Pattern, d.FusionProfiles[0].Group = evil, evil
		},
		"wide extents": func(_ *schema.Profile, d *schema.Device) {
			d.FusionProfiles[0].FusedGFLOPS, d.FusionProfiles[1].FusedGFLOPS = 1e-300, 1e300
			d.FusionProfiles[0].FusedBytes, d.FusionProfiles[1].FLOP = 1<<62, 1<<62
			for i := range d.Bandwidth {
				d.Bandwidth[i].GBps.Best = 5e-324
			}
		},
		"no bandwidth": func(_ *schema.Profile, d *schema.Device) { d.Bandwidth = nil },
		"no peak": func(_ *schema.Profile, d *schema.Device) {
			d.Compute, d.OperationProfiles, d.FusionProfiles = nil, nil, nil
		},
		"one peak": func(_ *schema.Profile, d *schema.Device) {
			d.Compute, d.Bandwidth, d.OperationProfiles, d.FusionProfiles = d.Compute[:1], nil, nil, nil
		},
		"crowd": func(_ *schema.Profile, d *schema.Device) {
			for i := range 100 {
				f := d.FusionProfiles[0]
				f.Pattern = strings.Repeat("Linear_", i%9) + string(rune('A'+i%26))
				f.FusedGFLOPS += float64(i)
				d.FusionProfiles = append(d.FusionProfiles, f)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := golden(t)
			change(p, &p.Devices[0])
			svg := drawn(t, p, &p.Devices[0], "svg")
			if all := texts(t, svg); len(all) < 10 {
				t.Errorf("texts %q", all)
			}
			if bytes.Contains(svg, []byte("NaN")) {
				t.Error("a coordinate is no number")
			}
			printed(t, p)
		})
	}
}

// TestRooflineOfTinyShape: what a call of some bytes reaches does not take the room of the rest, and is told of.
func TestRooflineOfTinyShape(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	x, y := extents(new(profiles.NewRoofline(d, 2, schema.DTypes())))
	tiny := d.OperationProfiles[1]
	tiny.InputShape, tiny.FLOP, tiny.Bytes, tiny.GFLOPS = []int64{1, 1, 8}, 8, 64, &schema.Stat{Best: 1e-5}
	d.OperationProfiles = append(d.OperationProfiles, tiny)
	r := profiles.NewRoofline(d, 2, schema.DTypes())
	if gotX, gotY := extents(&r); gotX != x || gotY != y {
		t.Errorf("extents %v and %v, %v and %v without it", gotX, gotY, x, y)
	}
	if note := "1x1x8 at 1e-05 GFLOPS."; !strings.Contains(strings.Join(texts(t, drawn(t, p, d, "svg")), "\n"), note) {
		t.Errorf("no note %q", note)
	}
}

// TestTextRooflineTooMany: what there is no letter for is counted.
func TestTextRooflineTooMany(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	all := profiles.NewRoofline(d, 2, []schema.DType{schema.FP32})
	for i := range 100 { // each in a cell of its own
		q := all.Points[0]
		q.Name, q.Number = fmt.Sprint("pattern", i), i+1
		q.Intensity, q.GFLOPS = math.Pow(2, float64(i%10)), math.Pow(2, float64(i/10))
		all.Points = append(all.Points, q)
	}
	key := newTextChart(&all, rooflineWidth).points(&all)
	lettered := strings.Join(key[:len(pointLetters)], "; ")
	named := len(pointLetters) + strings.Count(lettered, ", ") // those that share a letter are named behind its first
	want := fmt.Sprintf("and %d more, which are not drawn", len(all.Points)-named)
	if got := key[len(key)-1]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRooflineCutsNothing: the tables of the pictures of our own profiles, some of which have all types, are whole.
func TestRooflineCutsNothing(t *testing.T) {
	files, err := filepath.Glob("../profiles/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		p, err := profiles.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts(t, drawn(t, p, &p.Devices[0], "svg")) {
			if strings.HasSuffix(text, "...") {
				t.Errorf("%s: %s", file, text)
			}
		}
	}
}

// TestRooflineTooMany: a picture of thousands would take minutes and show nothing.
func TestRooflineTooMany(t *testing.T) {
	p := golden(t)
	d := &p.Devices[0]
	for i := range mostNumbers + 1 {
		f := d.FusionProfiles[0]
		f.Pattern = fmt.Sprint("pattern", i)
		d.FusionProfiles = append(d.FusionProfiles, f)
	}
	if _, err := drawRoofline(p, d, profiles.NewRoofline(d, 2, schema.DTypes()), "svg"); err == nil || !strings.Contains(err.Error(), "--dtype") {
		t.Errorf("error %v", err)
	}
}

func TestPlaceLabels(t *testing.T) {
	at := func(x, y vg.Length) []vg.Rectangle { return []vg.Rectangle{around(vg.Point{X: x, Y: y}, 10, 10)} }
	l := labels{within: around(vg.Point{X: 50, Y: 50}, 100, 100)}
	l.take(at(50, 50)...)
	choose := func(candidates ...[]vg.Rectangle) int {
		return l.place(len(candidates), func(i int) []vg.Rectangle { return candidates[i] })
	}
	for _, test := range []struct {
		name string
		got  int
		want int
	}{
		{"covers what is taken", choose(at(50, 50), at(30, 30)), 1},
		{"covers an earlier label", choose(at(31, 31), at(95, 95)), 1},
		{"leaves the page", choose(at(99, 10), at(10, 90)), 1},
		{"covers the least of what is taken", choose(at(51, 51), at(58, 58), at(52, 52)), 1},
	} {
		if test.got != test.want {
			t.Errorf("%s: place %d, want %d", test.name, test.got, test.want)
		}
	}
}
