package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"hwcal/profiles"
)

// grace is how long an interrupted command may take to end by itself. A sample
// cannot be stopped half-way, but it leaves nothing behind: the process just
// exits, unless a file is being saved.
const grace = 500 * time.Millisecond

// together is how close signals are that count as one: timeout(1) sends its own to the process,
// and to the group that it is in.
const together = 200 * time.Millisecond

// interruption ends the context of a command at the first signal. The process exits
// if the command has not ended a moment later, unless it keeps what it has by then;
// at a second signal it exits at once.
type interruption struct {
	signals chan os.Signal
	stderr  io.Writer
	exit    func(code int)
	keeping atomic.Bool
}

type interruptionKey struct{}

// keep gives the command the time that it takes to write what it has.
func keep(ctx context.Context) {
	if i, ok := ctx.Value(interruptionKey{}).(*interruption); ok {
		i.keeping.Store(true)
	}
}

// interruptible gives a context that ends at the first SIGINT or SIGTERM, or when the terminal
// goes away, unless that is ignored (nohup).
func interruptible(stderr io.Writer) (context.Context, func()) {
	i := &interruption{signals: make(chan os.Signal, 2), stderr: stderr, exit: exit}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(i.signals, syscall.SIGHUP)
	}
	ctx, stop := i.watch()
	return ctx, func() {
		signal.Stop(i.signals)
		stop()
	}
}

// exit ends the process behind what it is just saving, which takes a moment, and leaves nothing half done.
func exit(code int) {
	profiles.Finish()
	os.Exit(code)
}

func (i *interruption) watch() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), interruptionKey{}, i))
	done := make(chan struct{})
	go func() {
		select {
		case <-i.signals:
		case <-done:
			return
		}
		late, first := time.After(grace), time.Now()
		if i.keeping.Load() {
			fmt.Fprintln(i.stderr, "\ncalibrate: interrupted, writing what was measured; a second time ends at once")
			late = nil
		}
		cancel()
		for waits := true; waits; {
			select {
			case <-i.signals:
				waits = time.Since(first) < together
			case <-late:
				waits = false
			case <-done:
				return
			}
		}
		fmt.Fprintln(i.stderr, "\ncalibrate: interrupted")
		i.exit(exitInterrupted)
	}()
	return ctx, func() { close(done) }
}
