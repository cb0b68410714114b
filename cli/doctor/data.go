package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/internal/httpclient"
	"teamdata/internal/terminal"
	"teamdata/store"
)

// checkServer checks the state of the server that has the data file open.
func (d *doctor) checkServer(ctx context.Context) {
	path := app.SocketPath(d.Socket, d.Data, d.StateDir)
	client, err := socket.Client(ctx, path)
	switch {
	case err != nil:
		d.refused(err)
		return
	case client == nil:
		d.ok("none runs on %s", path)
		return
	}
	defer client.CloseIdleConnections()
	d.served = true
	status, err := d.askStatus(ctx, client)
	if err != nil {
		d.problem("see its log", "on %s: %v", path, err)
		return
	}
	d.newest = status.AheadOfClock
	d.ok("version %s serves %s since %s", status.Version, strings.Join(status.Addresses, ", "), d.when(status.Since))
	for _, certificate := range status.Certificates {
		switch {
		case certificate.LastError != "":
			d.warn("see its log", "the certificate %s is not renewed: %s", certificate.Name, certificate.LastError)
		case strings.HasPrefix(certificate.Name, store.ClientCertificateOf):
			d.warn("teamdata endpoint update ENDPOINT --client-cert FILE --client-key FILE", "the %s expires at %s", certificate.Name, d.when(certificate.NotAfter))
		case certificate.Authority != "":
			d.ok("the certificate %s is from %s", certificate.Name, certificate.Authority)
		}
	}
	if err := (&Probe{Data: d.Data, StateDir: d.StateDir, Socket: d.Socket, Version: d.Version}).Ready(ctx); err != nil {
		d.refused(err)
	}
}

// serverStatus is what the doctor reads of the admin API's status.
type serverStatus struct {
	Version      string
	Addresses    []string
	AheadOfClock time.Time
	Since        time.Time
	Certificates []store.CertificateStatus
}

func (d *doctor) askStatus(ctx context.Context, client *http.Client) (s serverStatus, err error) {
	r, body, err := get(ctx, client, socket.Base+"/admin/v1/status", d.Version)
	switch {
	case err != nil:
		return s, httpclient.Unanswered(err)
	case r.StatusCode != http.StatusOK:
		return s, fmt.Errorf("answered %d", r.StatusCode)
	}
	return s, json.Unmarshal(body, &s)
}

// checkData checks the file from outside.
func (d *doctor) checkData(context.Context) {
	info, err := os.Stat(d.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("%s doesn't exist yet; serve creates it", d.Data)
	case err != nil:
		d.problem("name another with --data", "%v", err)
	case !info.Mode().IsRegular():
		d.problem("name a file with --data", "%s is not a file", d.Data)
	case d.openToOthers("data file", d.Data, info, groupToo):
	default:
		d.ok("%s, %d bytes, mode %04o", d.Data, info.Size(), info.Mode().Perm())
	}
}

// The modes that a file with secrets may not have.
const (
	groupToo fs.FileMode = 0o077 // of the data file, which is ours and was made with 0600
	others   fs.FileMode = 0o007 // of keys: their group is often one of those who serve TLS
)

// openToOthers reports a file with secrets that other users can open.
func (d *doctor) openToOthers(what, path string, info fs.FileInfo, not fs.FileMode) bool {
	if runtime.GOOS == "windows" || info.Mode().Perm()&not == 0 { // there are no such modes there
		return false
	}
	d.problem("chmod 600 "+terminal.ShellWord(path), "other users can open the %s %s: its mode is %04o", what, path, info.Mode().Perm())
	return true
}

// checkContents checks the file as check does, unless a server has it open.
func (d *doctor) checkContents(ctx context.Context) {
	if info, err := os.Stat(d.Data); err != nil || info.Size() == 0 {
		d.ok("none yet")
		return
	}
	if d.served {
		d.ok("not checked: the server has the file open")
		return
	}
	if d.sound = d.checkFile(ctx, d.Data, "teamdata restore BACKUP --data "+terminal.ShellWord(d.Data)); d.sound {
		d.newest, _ = app.NewestTime(d.Data) // an error was found by the check
	}
}

// checkFile checks a data file or a backup of one.
func (d *doctor) checkFile(ctx context.Context, path, fix string) (sound bool) {
	first, faults := "", 0
	err := app.Check(ctx, path, func(fault string) {
		if faults++; faults == 1 {
			first = fault
		}
	})
	older := errors.Is(err, app.ErrOlderSchema)
	switch {
	case older:
		d.warn("make sure that there is room for a copy beside it", "%s has an older schema, which serve upgrades", path)
	case err != nil:
		d.refused(err)
	case faults > 0:
		d.problem(fix, "%s is damaged, %s, first: %s", path, terminal.Count(faults, "fault"), first)
	default:
		d.ok("%s is sound, and has the schema of this version", path)
	}
	return older || err == nil && faults == 0 // for an older one its pages were walked too
}

// checkSealKey checks whether the key file opens the data, if that can be read.
func (d *doctor) checkSealKey(ctx context.Context) {
	if _, err := app.Options(d.SealKeyFile); err != nil {
		d.refused(err)
		return
	}
	if info, err := os.Stat(d.SealKeyFile); err == nil && d.openToOthers("key file", d.SealKeyFile, info, others) {
		return
	}
	what := "data file"
	if app.IsDatabase(d.Data) {
		what = "database"
	}
	if !d.sound { // and a file safe to map
		why := "can't be read"
		if _, err := os.Stat(d.Data); d.served {
			why = "is in use"
		} else if what == "data file" && os.IsNotExist(err) {
			why = "doesn't exist yet"
		}
		d.ok("not checked: the %s %s", what, why)
		return
	}
	sealed, err := app.CheckSealKey(ctx, d.Data, d.SealKeyFile)
	switch {
	case err != nil:
		d.refused(err)
	case !sealed && d.SealKeyFile == "":
		d.ok("none: the webhook secrets, private keys and password hashes in the %s are in plain text", what)
	case !sealed:
		d.warn("keep a copy of the key apart from the backups", "the %s is not sealed yet, and the next serve seals it", what)
	default:
		d.ok("%s opens the %s's secrets", d.SealKeyFile, what)
	}
}
