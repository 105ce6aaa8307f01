package profiles

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostile holds what each format has to escape.
var hostile = []Report{
	{File: "good.json"},
	{File: "a:b,c%d.json", Findings: []Finding{
		{Path: "/a\x1b[31m\n", Rule: "schema", Message: "unknown property", Line: 3, Column: 7},
		{Path: "/b", Rule: "efficiency", Message: `100% <of> "it" & more`, Got: "1,5", Want: "a\nb", Line: 4, Column: 1},
	}},
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]string{
		"text": "good.json: ok\n" +
			`a:b,c%d.json:3:7: "/a\x1b[31m\n": unknown property [schema]` + "\n" +
			`a:b,c%d.json:4:1: /b: 100% <of> "it" & more: got 1,5, want a` + "\nb [efficiency]\n",
		"github": `::error file=a%3Ab%2Cc%25d.json,line=3,col=7,title=profile schema::"/a\x1b[31m\n": unknown property` + "\n" +
			`::error file=a%3Ab%2Cc%25d.json,line=4,col=1,title=profile efficiency::/b: 100%25 <of> "it" & more: got 1,5, want a%0Ab` + "\n",
		"json": `[
  {
    "file": "good.json",
    "findings": []
  },
  {
    "file": "a:b,c%d.json",
    "findings": [
      {
        "path": "/a\u001b[31m\n",
        "rule": "schema",
        "message": "unknown property",
        "line": 3,
        "column": 7
      },
      {
        "path": "/b",
        "rule": "efficiency",
        "message": "100% <of> \"it\" & more",
        "got": "1,5",
        "want": "a\nb",
        "line": 4,
        "column": 1
      }
    ]
  }
]
`,
		"junit": `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="good.json" tests="1" failures="0">
    <testcase classname="good.json" name="valid" file="good.json"></testcase>
  </testsuite>
  <testsuite name="a:b,c%d.json" tests="2" failures="2">
    <testcase classname="a:b,c%d.json" name="schema &#34;/a\x1b[31m\n&#34;" file="a:b,c%d.json" line="3">
      <failure type="schema" message="&#34;/a\x1b[31m\n&#34;: unknown property">a:b,c%d.json:3:7: &#34;/a\x1b[31m\n&#34;: unknown property</failure>
    </testcase>
    <testcase classname="a:b,c%d.json" name="efficiency /b" file="a:b,c%d.json" line="4">
      <failure type="efficiency" message="/b: 100% &lt;of&gt; &#34;it&#34; &amp; more: got 1,5, want a&#xA;b">a:b,c%d.json:4:1: /b: 100% &lt;of&gt; &#34;it&#34; &amp; more: got 1,5, want a&#xA;b</failure>
    </testcase>
  </testsuite>
</testsuites>
`,
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := WriteReports(&b, name, hostile); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			switch name {
			case "json":
				var back []Report
				if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
					t.Error(err)
				}
			case "junit":
				var back junitSuites
				if err := xml.Unmarshal([]byte(b.String()), &back); err != nil {
					t.Error(err)
				}
			}
			if err := WriteReports(broken{}, name, hostile); err == nil {
				t.Error("a failed write is no error")
			}
		})
	}
	if err := WriteReports(&strings.Builder{}, "yaml", nil); err == nil || !strings.Contains(err.Error(), "text, json, junit, github") {
		t.Errorf("unknown format: %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
