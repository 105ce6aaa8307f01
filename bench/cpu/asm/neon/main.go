// Command neon writes the kernels of package cpu for arm64. Run it in bench/cpu/asm: go run ./neon
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("neon: ")
	for name, emit := range kernelFiles() {
		f := newFile()
		emit(f)
		path := filepath.Join("..", name+"_arm64.s")
		if err := os.WriteFile(path, f.text.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// kernelFiles are what writes each file, by its name without the ending.
func kernelFiles() map[string]func(*file) {
	files := map[string]func(*file){"peak_neon": peaks, "stream_neon": streams}
	for _, t := range []target{{"s", 4}, {"d", 8}} {
		files[t.prefix+"gemm_"+t.tile()+"_neon"] = func(f *file) {
			t.near(f)
			t.skinny(f)
			t.transpose(f)
			t.copyRows(f)
		}
		files[fmt.Sprintf("vec_f%d_neon", 8*t.size)] = func(f *file) {
			t.maps(f)
			t.rows(f)
			t.constants(f)
		}
	}
	for _, t := range narrows {
		files[t.file()] = t.emit
	}
	return files
}
