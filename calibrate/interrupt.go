package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long an interrupted command may take to end by itself. A sample
// cannot be stopped half-way, but it leaves nothing behind: the process just
// exits.
const grace = 500 * time.Millisecond

// interruptible gives a context that ends at the first SIGINT or SIGTERM. If the
// command has not ended a moment later, or at a second signal, the process exits.
func interruptible(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		cancel()
		select {
		case <-signals:
		case <-time.After(grace):
		case <-done:
			return
		}
		fmt.Fprintln(stderr, "\ncalibrate: interrupted, nothing was written")
		os.Exit(exitInterrupted)
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
	}
}
