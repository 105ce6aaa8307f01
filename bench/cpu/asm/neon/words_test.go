package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every word of every kernel reads back in the disassembler of GNU binutils as the text beside it.
func TestWords(t *testing.T) {
	objdump, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skip("needs objdump for arm64: apt-get install binutils-aarch64-linux-gnu")
	}
	var code []byte
	var want []string
	for name, emit := range kernelFiles() {
		f := newFile()
		emit(f)
		lines := bufio.NewScanner(&f.text)
		for lines.Scan() {
			word, text, ok := strings.Cut(lines.Text(), " // ")
			digits, isWord := strings.CutPrefix(word, "\tWORD $0x")
			if !isWord {
				continue
			}
			x, err := strconv.ParseUint(digits, 16, 32)
			if !ok || err != nil {
				t.Fatalf("%s: %q", name, lines.Text())
			}
			code = binary.LittleEndian.AppendUint32(code, uint32(x))
			want = append(want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", "--no-show-raw-insn", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for line := range bytes.Lines(out) {
		_, text, ok := bytes.Cut(line, []byte(":\t"))
		if !ok {
			continue
		}
		if got := strings.Join(strings.Fields(string(text)), " "); at < len(want) && got != want[at] {
			t.Fatalf("%q became %q", want[at], got)
		}
		at++
	}
	if at != len(want) || at == 0 {
		t.Errorf("%d words became %d instructions", len(want), at)
	}
}
