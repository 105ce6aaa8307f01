package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hwcal/profiles"
	"hwcal/schema"
)

// TestInterruption: a command that keeps what it has gets the time for it, and any
// other ends a moment after the first signal; a second one ends both at once, unless it came
// together with the first.
func TestInterruption(t *testing.T) {
	for _, c := range []struct {
		keeps   bool
		signals int
		apart   time.Duration
		exits   bool
	}{{false, 1, 0, true}, {false, 2, 0, true}, {true, 1, 0, false}, {true, 2, 0, false}, {true, 2, 2 * together, true}} {
		var stderr strings.Builder
		exited := make(chan int, 1)
		i := &interruption{signals: make(chan os.Signal, 2), stderr: &stderr, exit: func(code int) { exited <- code }}
		ctx, stop := i.watch()
		if c.keeps {
			keep(ctx)
		}
		for range c.signals {
			i.signals <- os.Interrupt
			time.Sleep(c.apart)
		}
		<-ctx.Done()
		select {
		case code := <-exited:
			if !c.exits || code != exitInterrupted || !strings.HasSuffix(stderr.String(), "\ncalibrate: interrupted\n") {
				t.Errorf("%+v: exits with %d: %s", c, code, &stderr)
			}
		case <-time.After(3 * grace):
			if c.exits {
				t.Errorf("%+v: goes on", c)
			}
		}
		stop()
	}
}

// calibrateCommand is calibrate as a process of its own, in the folder.
func calibrateCommand(t *testing.T, dir string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := &exec.Cmd{Path: file, Args: append([]string{"calibrate"}, args...), Dir: dir, Env: os.Environ(), Stderr: &stderr}
	return cmd, &stderr
}

// calibrateProcess starts it.
func calibrateProcess(t *testing.T, dir string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd, stderr := calibrateCommand(t, dir, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stderr
}

// TestInterruptAndResume: a full run that is interrupted leaves a valid profile beside
// the one that it would have written, and the same command continues it.
func TestInterruptAndResume(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows sends no such signal")
	}
	const whole, part = "p.json", "p.interrupted.json"
	dir := t.TempDir()
	args := []string{"run", "--full", "--device", "cpu", "--dtype", "fp64", "--threads", "1", "--fusion-patterns", "Linear_Bias", "--budget", "30s", "-o", whole}
	interrupted := func(more ...string) *schema.Profile {
		t.Helper()
		cmd, stderr := calibrateProcess(t, dir, append(args, more...)...)
		time.Sleep(1500 * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+part+" continues") {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, whole)); !os.IsNotExist(err) {
			t.Errorf("%s: %v, want none", whole, err)
		}
		findings, err := profiles.ValidateFile(filepath.Join(dir, part))
		if err != nil || len(findings) > 0 {
			t.Fatalf("%v %v", findings, err)
		}
		p, err := profiles.Load(filepath.Join(dir, part))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	left := func(p *schema.Profile) (n int) {
		for _, u := range p.Devices[0].Unavailable {
			if strings.HasPrefix(u.Reason, "interrupted before") {
				n++
			}
		}
		return n
	}
	once := interrupted()
	twice := interrupted("--resume", part)
	if left(once) < 20 || left(twice) >= left(once) {
		t.Errorf("%d steps are left, then %d", left(once), left(twice))
	}
	if a, b := once.Metadata, twice.Metadata; !a.CalibrationDate.Equal(b.CalibrationDate) || b.DurationSeconds <= a.DurationSeconds {
		t.Errorf("began at %v and %v, took %g s and %g s", a.CalibrationDate, b.CalibrationDate, a.DurationSeconds, b.DurationSeconds)
	}
	// Another run does not continue it.
	cmd, stderr := calibrateProcess(t, dir, slices.Concat(args, []string{"--fusion-patterns", "QK_T", "--resume", part})...)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(stderr.String(), "cannot be resumed: its fusion patterns are [Linear_Bias]") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	// Without time for more, the rest is skipped, and the profile is whole.
	cmd, stderr = calibrateProcess(t, dir, slices.Concat(args, []string{"--budget", "1ms", "--resume", part})...)
	_ = cmd.Wait()
	p, err := profiles.Load(filepath.Join(dir, whole))
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if d := p.Devices[0]; d.Resume != nil || left(p) != 0 || len(d.Compute) < len(twice.Devices[0].Compute) {
		t.Errorf("resume %v, %d steps left, %d entries", d.Resume, left(p), len(d.Compute))
	}
}

// TestInterruptedName: what an interrupted run leaves replaces nothing but what it resumed.
func TestInterruptedName(t *testing.T) {
	t.Chdir(t.TempDir())
	name := func(want, output, resumed string) {
		t.Helper()
		got := interruptedName(output, "machine.json", resumed)
		if got != want {
			t.Errorf("%s, resuming %q: %s, want %s", output, resumed, got, want)
		}
		if other := interruptedName(output, "machine.json", resumed); resumed == "" && other == got {
			t.Errorf("two runs at once are both given %s", got)
		} else if resumed == "" {
			os.Remove(other)
		}
		if got != filepath.Clean(resumed) {
			os.Remove(got)
		}
	}
	name("p.interrupted.json", "p.json", "")
	name("machine.interrupted.json", "-", "")
	name("machine.interrupted.json", os.DevNull, "")
	for _, file := range []string{"p.interrupted.json", "p.interrupted-2.json"} {
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name("p.interrupted-3.json", "p.json", "")
	name("p.interrupted-3.json", "p.json", "other.json")
	name("p.interrupted.json", "p.json", "./p.interrupted.json")
	name("p.interrupted-2.json", "p.json", "p.interrupted-2.json")
}

// TestReaderGone: the profile is kept where nobody reads the pipe any more that it is written to.
func TestReaderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no such pipes")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	dir := t.TempDir()
	cmd, stderr := calibrateCommand(t, dir, "run", "--device", "cpu", "--dtype", "fp64", "--threads", "1", "--fusion-patterns", "none", "--budget", "1ms", "-o", "-")
	cmd.Stdout = write
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	_ = cmd.Run()
	_, file, found := strings.Cut(strings.TrimSuffix(strings.TrimSpace(stderr.String()), " instead"), "the profile is in ")
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !found {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if findings, err := profiles.ValidateFile(file); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", findings, err)
	}
}
