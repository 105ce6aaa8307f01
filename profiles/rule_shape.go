package profiles

import (
	"fmt"
	"strconv"
	"strings"
)

// checkShapes: a shape in words, its numbers, and its dimensions by name do not contradict each other, as
// readers look for any of them.
func checkShapes(c *checker) {
	same := func(path, words string, numbers []int64, named map[string]int64) {
		for i, n := range numbers {
			if n < 0 {
				c.fail(fmt.Sprintf("%s/input_shape/%d", path, i), "no size", strconv.FormatInt(n, 10), "at least 0")
			}
		}
		dims, values, ok := dimensions(words)
		if !ok || len(numbers) == 0 {
			return
		}
		want := make([]string, len(numbers))
		for i, n := range numbers {
			want[i] = strconv.FormatInt(n, 10)
		}
		if got, want := strings.Join(want, "x"), strings.Join(values, "x"); got != want {
			c.fail(path+"/input_shape", "input_shape is not the shape "+quote(words), got, want)
			return
		}
		if named != nil && len(named) < len(dims) {
			c.fail(path+"/extra_params", "fewer extra_params than dimensions of the shape "+quote(words), strconv.Itoa(len(named)), strconv.Itoa(len(dims)))
		}
		for i, name := range dims {
			if n, have := named[name]; have && n != numbers[i] {
				c.fail(path+"/extra_params/"+name, "extra_params are not those of the shape "+quote(words), fmt.Sprint(n), values[i])
			}
		}
	}
	for at, d := range c.eachDevice() {
		for path, e := range computes(at, d) {
			same(path, e.Shape, e.InputShape, nil)
		}
		if d.Quality != nil {
			for i, k := range d.Quality.Controls {
				same(fmt.Sprintf("%s/quality/controls/%d", at, i), k.Shape, k.InputShape, nil)
			}
		}
	}
	for path, f := range c.fusions() {
		same(path, f.Shape, f.InputShape, f.ExtraParams)
	}
	for path, x := range c.crossovers() {
		for i, p := range x.Points {
			same(fmt.Sprintf("%s/points/%d", path, i), p.Shape, p.InputShape, nil)
		}
	}
}

// dimensions are the names and the values in "m=512 n=1024"; words that are no such list are not ok.
func dimensions(shape string) (names, values []string, ok bool) {
	for word := range strings.FieldsSeq(shape) {
		name, value, found := strings.Cut(word, "=")
		if !found {
			return nil, nil, false
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values, len(names) > 0
}
