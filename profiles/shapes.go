package profiles

import "fmt"

// PatternShapes is a member of a file of shapes: the name of a pattern and the
// shapes to measure it on, as they are written. What they mean is for the caller
// to say, and where they stand for its errors.
type PatternShapes struct {
	Pattern Text
	Shapes  []Text
}

// Text is a string of a file and where it stands: line and column count from 1.
type Text struct {
	Value        string
	Line, Column int
}

// LoadShapes reads a file of shapes, one JSON object from names of patterns to lists
// of shapes; "-" is standard input. The limits are those of a profile.
func LoadShapes(path string) ([]PatternShapes, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	shapes, f := parseShapes(data)
	if f != nil {
		return nil, &InvalidError{Name: NameOf(path), Findings: []Finding{*f}}
	}
	return shapes, nil
}

func parseShapes(data []byte) ([]PatternShapes, *Finding) {
	doc, f := parse(data)
	if f != nil {
		return nil, f
	}
	if doc.root.kind != '{' || len(doc.root.keys) == 0 {
		return nil, doc.at(doc.root.off, "", ruleSchema, `want an object from patterns to shapes, as {"Linear_Bias": ["512x1024x1024"]}`)
	}
	last, read := Text{Line: 1, Column: 1}, 0
	// text is what stands at off, behind what was asked for before: many shapes may be in one line.
	text := func(value string, off int) Text {
		line, column := position(data[read:off], off-read)
		if line == 1 {
			column += last.Column - 1
		}
		read, last = off, Text{value, last.Line + line - 1, column}
		return last
	}
	all := make([]PatternShapes, len(doc.root.keys))
	for i, name := range doc.root.keys {
		list := doc.root.kids[i]
		if list.kind != '[' || len(list.kids) == 0 {
			return nil, doc.at(list.off, pointer(name), ruleSchema, "want a list of shapes, one at least")
		}
		all[i] = PatternShapes{Pattern: text(name, doc.root.keyOff[i])}
		for j, v := range list.kids {
			s, is := v.scalar.(string)
			if !is {
				return nil, doc.at(v.off, pointer(name, fmt.Sprint(j)), ruleSchema, `want a shape as text, such as "512x1024x1024"`)
			}
			all[i].Shapes = append(all[i].Shapes, text(s, v.off))
		}
	}
	return all, nil
}
