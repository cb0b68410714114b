package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"teamdata/internal/terminal"
)

// secondInterrupt is how long after the first signal an interrupt counts as a
// second one, from a person tired of waiting. Earlier ones belong to the first:
// timeout(1) and a terminal both send theirs twice.
const secondInterrupt = time.Second

// exitInterrupted is what shells show for a program that an interrupt ended.
const exitInterrupted = 128 + int(syscall.SIGINT)

// untilStopped returns a context that ends with the first SIGTERM, SIGHUP or
// interrupt, for a graceful stop. A second interrupt ends the process at once.
func untilStopped() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		stop()
		stopped := time.Now()
		for s := range signals {
			if s == os.Interrupt && time.Since(stopped) >= secondInterrupt {
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx
}

// stayOnHangup lets a process that no terminal belongs to go on after a SIGHUP,
// with which service managers ask for the certificates to be read again.
func stayOnHangup() {
	if !terminal.Is(os.Stdin) && !terminal.Is(os.Stdout) && !terminal.Is(os.Stderr) {
		signal.Ignore(syscall.SIGHUP)
	}
}
