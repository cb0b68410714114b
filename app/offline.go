package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/admin/settings"
	"teamdata/internal/netguard"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// ErrInUse is the cause of an error of opening a data file that another process
// has open.
var ErrInUse = boltfile.ErrInUse

// Offline is the data of no running server, for commands that change it.
type Offline struct {
	Data        string
	SealKeyFile string
	PublicURL   string // of the server that will serve it, for sign-in links
	Version     string
	Make        bool // a file that is not there is made; the tables of a database always are
}

// Admin opens the data and returns a client of the admin API, which this process
// answers. Deliveries and mail wait in it for the next server; closing
// reports that on said, as are an upgrade or a sealing. Replays are done meanwhile:
// closing waits for their end, or that of ctx. If the file is missing and must not be
// created, the error is fs.ErrNotExist.
func (f Offline) Admin(ctx context.Context, said io.Writer) (client *http.Client, closeData func() error, err error) {
	data := locate(f.Data)
	if err := data.missing(); err != nil && !f.Make {
		return nil, nil, err
	}
	if f.PublicURL, err = origin(f.PublicURL); err != nil {
		return nil, nil, SettingError{err}
	}
	o, err := Options(f.SealKeyFile)
	if err != nil {
		return nil, nil, err
	}
	s, err := data.open(context.Background(), o, member{})
	if err != nil {
		return nil, nil, err
	}
	if s.warning != "" {
		fmt.Fprintln(said, "warning: "+s.warning)
	}
	if s.sealedNow {
		fmt.Fprintln(said, Sealed)
	}
	if s.from > 0 {
		fmt.Fprintf(said, "%s: %s\n", Migrated, s.kept)
	}
	var queued, removed atomic.Bool
	s.OnDue(func(uint64, time.Time) { queued.Store(true) })
	var replaying replaysOffline
	closeData = func() error {
		replayed := replaying.wait(said)
		if queued.Load() {
			fmt.Fprintln(said, "no server is running: deliveries and mail wait in the data file for the next `teamdata serve`")
		}
		if removed.Load() {
			return errors.Join(replayed, store.DropRemoved(context.Background(), s), s.Close())
		}
		return errors.Join(replayed, s.Close())
	}
	api := NewAdmin(s.Engine, admin.Config{Version: f.Version, Log: zerolog.Nop(), LinkURL: settings.LinkURL(f.PublicURL), WarnOfURL: netguard.New(netguard.Config{}).Warn,
		Removed: func() { removed.Store(true) }, Replaying: func() { replaying.start(ctx, s.Engine) }}, func(*admin.Status) {})
	return &http.Client{Transport: inProcess{api.Local()}}, closeData, nil
}

// inProcess answers requests with a handler in this process.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.Clone(r.Context())
	asked.RequestURI, asked.RemoteAddr = r.URL.RequestURI(), "@"
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	defer asked.Body.Close()
	w := &kept{header: http.Header{}}
	p.handler.ServeHTTP(w, asked)
	w.WriteHeader(http.StatusOK) // unless it was written
	return &http.Response{
		StatusCode: w.status, Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// kept buffers an answer until it is complete.
type kept struct {
	header, sent http.Header
	status       int // 0: not written yet
	body         bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status, k.sent = status, http.Header{}
		for name, values := range k.header { // such as ETag, which a network would make Etag
			k.sent[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
}

func (k *kept) Write(p []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(p)
}
