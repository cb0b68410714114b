package admin

import (
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"teamdata/store"
)

const (
	// stall is how long a client may take no byte of a backup.
	stall = 30 * time.Second
	// piece is how much of a backup is sent under one deadline, in bytes.
	piece = 256 << 10
)

var errCopying = store.Errorf(store.CodeConflict, "Another backup is being made. Try again when it is done.")

// sendBackup makes a copy of the data file, and sends it from there: a
// slow client holds no transaction open. HEAD makes none, and so knows no size.
func (x *exchange) sendBackup() error {
	x.waive()
	if x.r.Method == http.MethodHead {
		x.beginBackup()
		return nil
	}
	file, err := x.f.copyOnce(x.r.Context())
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := strconv.FormatInt(info.Size(), 10)
	x.w.Header()["Content-Length"], x.w.Header()["Teamdata-Backup-Size"] = []string{size}, []string{size}
	x.beginBackup()
	if !x.stream(file) {
		panic(http.ErrAbortHandler) // so that half of it can't be taken for whole
	}
	return nil
}

func (x *exchange) beginBackup() {
	h := x.w.Header()
	x.setHeaders(h)
	h["Content-Type"] = []string{"application/octet-stream"}
	x.sent = true
	x.w.WriteHeader(http.StatusOK)
}

// stream sends a file to its end. A client that takes nothing for a while is given
// up.
func (x *exchange) stream(file io.Reader) (whole bool) {
	deadline := http.NewResponseController(x.w)
	for {
		deadline.SetWriteDeadline(time.Now().Add(stall))
		n, err := io.CopyN(x.w, file, piece)
		if err == io.EOF {
			return true
		}
		if err != nil || n == 0 {
			return false
		}
	}
}

// copyOnce makes a copy, one at a time: each takes the disk as much space as the
// data file.
func (a *Admin) copyOnce(ctx context.Context) (*os.File, error) {
	select {
	case a.copying <- struct{}{}:
		defer func() { <-a.copying }()
		return a.config.Snapshot(ctx)
	default:
		return nil, errCopying
	}
}
