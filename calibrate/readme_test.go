package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"hwcal/bench"
	"hwcal/schema"
)

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// readmeCommands are the lines of the ```sh blocks of the README.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(readText(t, "../README.md"), -1) {
		for line := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n") {
			all = append(all, line)
		}
	}
	return all
}

// parses checks a command line without doing what it says.
func parses(args []string) error {
	var out bytes.Buffer
	app := newApp(&out, &out)
	ran := false
	for _, c := range app.Commands {
		c.Action = func(*cli.Context) error { ran = true; return nil }
	}
	if err := app.Run(permute(app, args)); err != nil {
		return err
	}
	if !ran {
		return usagef("%q runs no command", args)
	}
	return nil
}

// measures are the commands that take long and are only parsed.
var measures = []string{"run", "bench"}

// TestReadmeCommands parses every command of the README, and runs those that
// measure nothing on a profile of the name that the README uses.
func TestReadmeCommands(t *testing.T) {
	commands := readmeCommands(t)
	profile := readText(t, "../testdata/golden/profile.json")
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("profile.json", []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, line := range commands {
		rest, is := strings.CutPrefix(line, "go run ./calibrate ")
		if !is {
			if line != testCommand {
				t.Errorf("the README shows %q, which no test knows", line)
			}
			continue
		}
		args := append([]string{"calibrate"}, strings.Fields(rest)...)
		if err := parses(args); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if slices.Contains(measures, args[1]) {
			continue
		}
		var stdout, stderr bytes.Buffer
		if code := calibrate(args, &stdout, &stderr); code != 0 || stdout.Len()+stderr.Len() == 0 {
			t.Errorf("%s: exit code %d\n%s%s", line, code, &stdout, &stderr)
		}
		ran++
	}
	if ran < 4 {
		t.Errorf("%d commands ran only", ran)
	}
	if err := parses([]string{"calibrate", "run", "--quik"}); err == nil {
		t.Error("a wrong flag parses")
	}
}

// testCommand is what the README tells people to test with.
const testCommand = "go test ./..."

// TestCIRunsTheReadme holds CI against the README.
func TestCIRunsTheReadme(t *testing.T) {
	if !slices.Contains(readmeCommands(t), testCommand) {
		t.Errorf("the README does not show %q", testCommand)
	}
	if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(testCommand) + ` `).MatchString(readText(t, "../.ci/run")) {
		t.Errorf(".ci/run does not call %q", testCommand)
	}
}

// TestReadmeNamesEverything: no command and no exit code is missing.
func TestReadmeNamesEverything(t *testing.T) {
	readme := readText(t, "../README.md")
	for _, c := range newApp(&bytes.Buffer{}, &bytes.Buffer{}).Commands {
		if c.Hidden || c.Name == "help" {
			continue
		}
		if !strings.Contains(readme, "| `calibrate "+c.Name) {
			t.Errorf("the README has no row for calibrate %s", c.Name)
		}
	}
	for _, target := range regexp.MustCompile("`make ([a-z]+)`").FindAllStringSubmatch(readme, -1) {
		if !strings.Contains(readText(t, "../Makefile"), "\n"+target[1]+":") {
			t.Errorf("the README names make %s, which the Makefile does not have", target[1])
		}
	}
}

// TestReadmeCountsFLOP holds the table of FLOP against what the single operations count: what comes
// on top for a row or a result is less than one an element.
func TestReadmeCountsFLOP(t *testing.T) {
	told := map[string]string{} // FLOP an element, by operation
	for _, row := range regexp.MustCompile(`(?m)^\| (\d) an element \| (.*) \|$`).FindAllStringSubmatch(readText(t, "../README.md"), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[2], -1) {
			told[name[1]] = row[1]
		}
	}
	for _, p := range bench.Singles() {
		if p.Name == "conv2d" || p.Name == "max_pool" {
			continue // have no number an element
		}
		chain, err := p.Build(p.Shapes(schema.Full)[0], bench.Place{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		elements := chain[0].Out.Elems()
		if len(chain[0].In) > 0 {
			elements = chain[0].In[0].Elems()
		}
		if want := strconv.FormatInt(chain.FLOP()/elements, 10); told[p.Name] != want {
			t.Errorf("%s: the README tells %q FLOP an element, not %s", p.Name, told[p.Name], want)
		}
	}
}

// TestHelp: each flag tells one default, and none that stands for no number.
func TestHelp(t *testing.T) {
	for _, name := range commandNames(newApp(&bytes.Buffer{}, &bytes.Buffer{})) {
		var out bytes.Buffer
		if code := calibrate([]string{"calibrate", name, "--help"}, &out, &out); code != 0 {
			t.Errorf("%s --help: exit code %d", name, code)
		}
		for line := range strings.Lines(out.String()) {
			if strings.Count(line, "(default: ") > 1 || strings.Contains(line, "(default: 0") {
				t.Errorf("%s --help: %s", name, line)
			}
		}
	}
}
