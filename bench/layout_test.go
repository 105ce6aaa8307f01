package bench

import "testing"

func TestLayoutsOf(t *testing.T) {
	for shape, want := range map[string]int{"64x64x64": 10, "512x768x3072": 10, "1024x2048x2048": 5, "1x4096x4096": 1} {
		if got := fakeRunner(newFake()).layoutsOf([]Case{fakeCase(t, "Linear_Bias", shape)}); got != want {
			t.Errorf("%s: %d layouts, want %d", shape, got, want)
		}
	}
	r := fakeRunner(newFake())
	r.Memory = 1 << 20
	if got := r.layoutsOf([]Case{fakeCase(t, "Linear_Bias", "256x256x256")}); got != 1 {
		t.Errorf("%d layouts in a MiB", got)
	}
	cold := fakeCase(t, "Linear_Bias", "64x64x64")
	cold.Cold = true
	if got := r.layoutsOf([]Case{cold}); got != 1 {
		t.Errorf("%d layouts of a cold pair", got)
	}
}
