package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

// secondInterrupt is how long after the first signal an interrupt counts as a
// second one, from a person tired of waiting. Earlier ones belong to the first:
// timeout(1) and a terminal both send theirs twice.
const secondInterrupt = time.Second

// exitInterrupted is what shells show for a program that an interrupt ended.
const exitInterrupted = 128 + int(syscall.SIGINT)

// untilStopped takes the signals of this process. It returns a context that ends with
// the first SIGTERM or interrupt, for a graceful stop; a second interrupt ends the
// process at once. A SIGHUP does nothing, and one that came is kept, until
// stopByHangup is called: what it means depends on the command.
func untilStopped() (ctx context.Context, stopByHangup func()) {
	signals, hangups := make(chan os.Signal, 8), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(hangups, syscall.SIGHUP)
	}
	ctx, stop := context.WithCancel(context.Background())
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
	return ctx, func() {
		go func() { signals <- <-hangups }()
	}
}

// staysOnHangup is the annotation of a command that goes on after a SIGHUP if no
// terminal belongs to the process: service managers ask with it for the certificates
// to be read again.
const staysOnHangup = "staysOnHangup"

// stopsOnHangup reports whether a SIGHUP stops a command.
func stopsOnHangup(cmd *cobra.Command) bool {
	_, stays := cmd.Annotations[staysOnHangup]
	return !stays || terminal.Is(os.Stdin) || terminal.Is(os.Stdout) || terminal.Is(os.Stderr)
}
