package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shape gives the dimensions of a case by name, in the order of its pattern.
type Shape []Dim

// Dim is one named dimension.
type Dim struct {
	Name string
	N    int64
}

// maxDim bounds a dimension; bytes of a working set are the largest.
const maxDim int64 = 1 << 40

// dims makes a shape of the names and values.
func dims(names []string, values ...int64) Shape {
	s := make(Shape, len(names))
	for i, n := range names {
		s[i] = Dim{n, values[i]}
	}
	return s
}

// Get returns a dimension. A pattern asks only for the names that it declares.
func (s Shape) Get(name string) int64 {
	for _, d := range s {
		if d.Name == name {
			return d.N
		}
	}
	panic("bench: no dimension " + name + " in " + s.String())
}

// Values are the dimensions in order.
func (s Shape) Values() []int64 {
	v := make([]int64, len(s))
	for i, d := range s {
		v[i] = d.N
	}
	return v
}

// Map gives the dimensions by name.
func (s Shape) Map() map[string]int64 {
	m := make(map[string]int64, len(s))
	for _, d := range s {
		m[d.Name] = d.N
	}
	return m
}

// String reads "m=512 n=1024 k=1024".
func (s Shape) String() string {
	words := make([]string, len(s))
	for i, d := range s {
		words[i] = fmt.Sprintf("%s=%d", d.Name, d.N)
	}
	return strings.Join(words, " ")
}

// ParseShape reads "512x1024x1024", in the order of the names, or
// "m=512,n=1024,k=1024" in any order. Every dimension must be given.
func ParseShape(text string, names []string) (Shape, error) {
	usage := func(why string) error {
		return fmt.Errorf("shape %q: %s; want numbers for %s, or name=number for each, with commas between", text, why, strings.Join(names, "x"))
	}
	given := map[string]int64{}
	if !strings.Contains(text, "=") {
		words := strings.Split(text, "x")
		if len(words) != len(names) {
			return nil, usage(fmt.Sprintf("%d dimensions, not %d", len(words), len(names)))
		}
		for i := range words {
			words[i] = names[i] + "=" + words[i]
		}
		text = strings.Join(words, ",")
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > maxDim {
			return nil, usage(fmt.Sprintf("%q is not a number from 0 to %d", word, maxDim))
		}
		if _, twice := given[name]; twice {
			return nil, usage(fmt.Sprintf("%q is given twice", name))
		}
		if !slices.Contains(names, name) {
			return nil, usage(fmt.Sprintf("there is no dimension %q", name))
		}
		given[name] = n
	}
	s := make(Shape, len(names))
	for i, name := range names {
		n, ok := given[name]
		if !ok {
			return nil, usage(name + " is missing")
		}
		s[i] = Dim{name, n}
	}
	return s, nil
}
