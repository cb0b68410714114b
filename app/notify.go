package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// notify tells systemd, if that has started the program and asked for it.
func notify(state string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("the service manager can't be told %s: %w", state, err)
	}
	defer conn.Close()
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, err = conn.Write([]byte(state))
	return err
}

// notifyManager tells the service manager that the listeners are bound, that it
// stops once ctx is done, and until then that it is well.
func (a *Appliance) notifyManager(ctx context.Context, h *health) (end func()) {
	a.notify("READY=1")
	stopped := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(stopped)
		a.notify("STOPPING=1")
	})
	if pause := watchdogEvery(); pause > 0 {
		go a.feedWatchdog(ctx, h, pause)
	}
	return func() {
		if !undo() {
			<-stopped
		}
	}
}

func (a *Appliance) notify(state string) {
	if err := notify(state); err != nil {
		a.log.Warn().Err(err).Msg("sd_notify failed")
	}
}

// watchdogEvery is half of what systemd's WatchdogSec allows; 0 without it.
func watchdogEvery() time.Duration {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err != nil || usec <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	return time.Duration(usec) * time.Microsecond / 2
}

// feedWatchdog says that it is well while commits succeed: when they don't for
// WatchdogSec, systemd starts the program anew.
func (a *Appliance) feedWatchdog(ctx context.Context, h *health, pause time.Duration) {
	every(ctx, pause, func(time.Time) {
		if h.look().commit {
			a.notify("WATCHDOG=1")
		}
	})
}
