package admin

import (
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

const (
	// stall is how long a client may pause reading a backup.
	stall = 30 * time.Second
	// piece is how much of a backup is sent under one deadline, in bytes.
	piece = 256 << 10
)

var errNoFile = store.Errorf(store.CodeConflict, "The data is in a database, so there is no data file to copy.").Advise("Back it up with the database's own tools, such as pg_dump.")

var errCopying = store.Errorf(store.CodeConflict, "Another backup is being made.").Advise("Try again when it is done.")

// readBackup makes a copy of the data file and sends it, so a slow client keeps
// no transaction open. HEAD makes no copy, and so has no size.
func (r *request) readBackup() error {
	if r.api.config.Snapshot == nil {
		return errNoFile
	}
	r.clearDeadlines()
	if r.HTTP.Method == http.MethodHead {
		r.beginBackup()
		return nil
	}
	file, err := r.api.copyOnce(r.HTTP.Context())
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := strconv.FormatInt(info.Size(), 10)
	r.W.Header()["Content-Length"], r.W.Header()["Teamdata-Backup-Size"] = []string{size}, []string{size}
	r.beginBackup()
	if !r.stream(file) {
		panic(http.ErrAbortHandler) // so a partial backup can't pass for a complete one
	}
	return nil
}

func (r *request) beginBackup() {
	h := r.W.Header()
	h["Cache-Control"], h["X-Content-Type-Options"] = web.NoStore, web.NoSniff
	h["Content-Type"] = []string{"application/octet-stream"}
	r.WriteHeader(http.StatusOK)
}

// stream sends a file to its end, unless the client stalls.
func (r *request) stream(file io.Reader) (whole bool) {
	deadline := http.NewResponseController(r.W)
	for {
		deadline.SetWriteDeadline(time.Now().Add(stall))
		n, err := io.CopyN(r.W, file, piece)
		if err == io.EOF {
			return true
		}
		if err != nil || n == 0 {
			return false
		}
	}
}

// copyOnce makes a copy, one at a time: each needs as much disk space as the data
// file.
func (a *Admin) copyOnce(ctx context.Context) (*os.File, error) {
	select {
	case a.copying <- struct{}{}:
		defer func() { <-a.copying }()
		return a.config.Snapshot(ctx)
	default:
		return nil, errCopying
	}
}
