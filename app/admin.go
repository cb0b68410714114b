package app

import (
	"cmp"
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"teamdata/admin"
	settingspage "teamdata/admin/settings"
	"teamdata/admin/socket"
	"teamdata/internal/hint"
	"teamdata/server"
	"teamdata/store"
	"teamdata/wire/web"
)

// openSocket binds the socket. The data file is already open, so no other server
// uses it, and an existing socket is stale.
func (a *App) openSocket(ctx context.Context) (err error) {
	path := SocketPath(a.settings.Socket, a.settings.Data, a.settings.StateDir)
	if client, _ := socket.Client(ctx, path); client != nil { // a database doesn't keep a second server out, as a file does
		client.CloseIdleConnections()
		return hint.New("a server listens on "+path+" already", "give each server of a machine a folder of its own with --state-dir")
	}
	a.socket.listener, err = socket.Listen(path, func(uid uint32) {
		a.log.Warn().Uint32("uid", uid).Str("socket", path).Msg("another user was refused at the admin socket")
	})
	return err
}

// NewAdmin returns the admin API of some data. served adds the server's part to
// its status.
func NewAdmin(s store.Engine, c admin.Config, served func(*admin.Status)) *admin.Admin {
	if file, ok := s.(store.FileEngine); ok {
		c.Snapshot = file.Snapshot
	}
	c.Status = func(context.Context) (admin.Status, error) {
		about, err := s.About()
		status := admin.Status{DataFile: about.Place, Size: about.Size, Schema: about.Schema, Sealed: about.Sealed}
		if aheadOf(about.Newest, about.Now) {
			status.Ahead = about.Newest
		}
		served(&status)
		return status, err
	}
	c.Nodes = func(ctx context.Context) ([]store.Node, error) {
		nodes, err := s.Nodes(ctx)
		var alone admin.Status
		if served(&alone); nodes == nil && !alone.Since.IsZero() {
			name, _ := os.Hostname()
			nodes = []store.Node{{Name: cmp.Or(name, "node"), Version: c.Version, State: store.NodeRunning, Shards: store.Shards, StartedAt: alone.Since, SeenAt: s.Now()}}
		}
		return nodes, err
	}
	return admin.New(s, c)
}

// wireAdmin creates the admin API of the running server.
func (a *App) wireAdmin() {
	since := time.Now().UTC()
	c := admin.Config{Version: a.settings.Version, Address: a.settings.PublicURL, Log: a.log, LinkURL: settingspage.LinkURL(a.publicURL()), Mailed: func() { a.mailer.Wake() }, LogPushed: a.logPushed, NoMail: a.settings.SMTPURL == "",
		WarnOfURL: a.warnOfURL, Removed: a.sweeps.Wake, Replaying: a.replays.Wake}
	if a.settings.Clock != nil {
		c.TestClock = testClock{a}
	}
	a.admin = NewAdmin(a.store, c, func(s *admin.Status) {
		s.Since, s.Addresses, s.Certificates = since, []string{a.URL()}, a.certificateStatus()
	})
	a.socket.http = http.Server{
		Handler:           a.admin.Local(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// testClock is the test clock for the admin API, whose requests end when the server
// stops.
type testClock struct{ *App }

func (c testClock) Now() time.Time { return c.now() }

func (c testClock) Advance(ctx context.Context, by time.Duration) error {
	return c.untilStopped(ctx, func(ctx context.Context) error { return c.App.Advance(ctx, by) })
}

func (c testClock) Reset(ctx context.Context, tokenID string) error {
	return c.untilStopped(ctx, func(ctx context.Context) error { return c.App.Reset(ctx, tokenID) })
}

func (c testClock) untilStopped(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.running, cancel)()
	err := do(ctx)
	if err != nil && c.running.Err() != nil {
		return web.ErrStopping
	}
	return err
}

// logPushed follows the access log: changes pushed by programs are logged like
// requests.
func (a *App) logPushed() bool {
	return a.settings.AccessLog == string(server.LogAll) && a.pushed.Add(1)%uint64(a.settings.AccessLogSample) == 0
}
