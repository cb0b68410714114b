package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/admin/settings"
	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/cli/operator"
	"teamdata/store/boltstore"
)

// connectFile opens a data file that nobody serves, and answers the admin API in
// this process. What is to be sent waits in the file for the next server.
func connectFile(t operator.Target) (c operator.Connection, err error) {
	if _, err := os.Stat(t.Data); errors.Is(err, fs.ErrNotExist) && !t.Make {
		return c, fmt.Errorf("there is no data file %s, and no server listens on %s; name another with --data, or make it with its first org: teamdata org create --name NAME", t.Data, socket.Path(t.Socket, t.Data))
	}
	o, err := app.Options(t.SealKeyFile)
	if err != nil {
		return c, err
	}
	s, err := boltstore.Open(t.Data, o)
	if err != nil {
		return c, err
	}
	if s.SealedNow() {
		fmt.Fprintln(os.Stderr, app.Sealed)
	}
	if from, kept := s.MigratedFrom(); from > 0 {
		fmt.Fprintf(os.Stderr, "%s: %s\n", app.Migrated, kept)
	}
	var queued atomic.Bool
	s.OnDue(func(uint64, time.Time) { queued.Store(true) })
	end := func() error {
		if queued.Load() {
			fmt.Fprintln(os.Stderr, "no server runs: what is to be sent waits in the data file for the next `teamdata serve`")
		}
		return s.Close()
	}
	client := &http.Client{Transport: inProcess{app.NewAdmin(s, admin.Config{Version: version(), Log: zerolog.Nop(), LinkURL: settings.LinkURL(t.PublicURL)}, func(*admin.Status) {}).Local()}}
	return operator.Connection{Client: client, Base: socket.Base, Close: end}, nil
}

// inProcess answers requests by a handler in this process.
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

// kept keeps an answer until it is whole.
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
