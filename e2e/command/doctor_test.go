package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/cli/doctor"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/localca"
	"teamdata/store/boltstore"
)

// examined is what the program's doctor finds.
func examined(t *testing.T, args ...string) (list []doctor.Finding) {
	t.Helper()
	out, err := program.Run(t, append([]string{"doctor", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	var told struct {
		Findings []doctor.Finding
		Problems int
	}
	if e := json.NewDecoder(strings.NewReader(out)).Decode(&told); e != nil {
		t.Fatalf("%v\n%s", e, out)
	}
	if (told.Problems > 0) != (err != nil) {
		t.Errorf("with %d problems it ended with %v", told.Problems, err)
	}
	return told.Findings
}

// finds wants one finding of a check, whose text and fix match.
func finds(t *testing.T, list []doctor.Finding, check, state, text string) {
	t.Helper()
	for _, f := range list {
		if f.Check == check && f.State == state && regexp.MustCompile(text).MatchString(f.Text+"; "+f.Fix) {
			return
		}
	}
	t.Errorf("no %s of %s says %q in\n%v", state, check, text, list)
}

// dataFile makes a data file with an org.
func dataFile(t *testing.T, flags ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "teamdata.db")
	program.MustRun(t, append([]string{"org", "create", "--name", "Acme", "--data", path}, flags...)...)
	return path
}

func TestDoctorOfDataFile(t *testing.T) {
	t.Parallel()
	data := dataFile(t)
	list := examined(t, "--data", data)
	for check, text := range map[string]string{
		"settings": "in order", "server": "none runs", "data file": "mode 0600", "contents": "is sound", "seal key": "none",
		"disk": "synced write takes|is free|are free", "listen": "is free", "certificate": "local CA", "CA files": "none",
	} {
		finds(t, list, check, doctor.OK, text)
	}
	kit.Must(t, os.Chmod(data, 0o644))
	future := time.Now().Add(time.Hour)
	kit.Must(t, os.Chtimes(data, future, future))
	list = examined(t, "--data", data)
	finds(t, list, "data file", doctor.Problem, "0644; chmod 600")
	finds(t, list, "clock", doctor.Problem, "set the clock")

	s, err := boltstore.Open(data, boltstore.Options{})
	kit.Must(t, err)
	finds(t, examined(t, "--data", data), "contents", doctor.Problem, "in use by")
	s.Close()
	kit.Must(t, os.Truncate(data, 9000))
	finds(t, examined(t, "--data", data), "contents", doctor.Problem, "cut short.*restore a backup")
	finds(t, examined(t, "--data", filepath.Join(data+".d", "teamdata.db")), "disk", doctor.Problem, "can't be written.*mkdir -p")
}

// An older schema is no problem: serve takes it. A newer one is.
func TestDoctorOfSchema(t *testing.T) {
	t.Parallel()
	data := dataFile(t)
	setSchema(t, data, 0)
	list := examined(t, "--data", data)
	finds(t, list, "contents", doctor.Warning, "older schema")
	finds(t, list, "seal key", doctor.OK, "none")
	setSchema(t, data, 1000)
	finds(t, examined(t, "--data", data), "contents", doctor.Problem, "has schema 1000")
}

// setSchema has a data file say that it is of a schema.
func setSchema(t *testing.T, data string, version uint64) {
	t.Helper()
	db, err := bbolt.Open(data, 0o600, nil)
	kit.Must(t, err)
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{6: byte(version >> 8), 7: byte(version)})
	})
	kit.Must(t, errors.Join(err, db.Close()))
}

func TestDoctorOfServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data)
	list := examined(t, "--data", data)
	finds(t, list, "server", doctor.OK, "serves "+p.URL)
	finds(t, list, "contents", doctor.OK, "the server has the file open")
	p.Kill()
	finds(t, examined(t, "--data", data), "server", doctor.OK, "none runs")
}

func TestDoctorOfSealKey(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	key, other := kit.SealKey(t, folder), filepath.Join(folder, "other.key")
	kit.WriteFile(t, other, strings.Repeat("17", 32))
	plain, sealed := dataFile(t), dataFile(t, "--seal-key-file", key)
	before := kit.ReadText(t, plain)
	finds(t, examined(t, "--data", sealed, "--seal-key-file", key), "seal key", doctor.OK, "opens")
	finds(t, examined(t, "--data", sealed, "--seal-key-file", other), "seal key", doctor.Problem, "the key file is not the one.*give that one")
	finds(t, examined(t, "--data", sealed), "seal key", doctor.Problem, "is sealed; give")
	finds(t, examined(t, "--data", plain, "--seal-key-file", key), "seal key", doctor.Warning, "the next serve seals it")
	if kit.ReadText(t, plain) != before {
		t.Error("the doctor has changed the file")
	}
	kit.Must(t, os.Chmod(key, 0o604))
	finds(t, examined(t, "--data", sealed, "--seal-key-file", key), "seal key", doctor.Problem, "other users.*chmod 600")
	finds(t, examined(t, "--seal-key-file", filepath.Join(folder, "none")), "seal key", doctor.Problem, "--seal-key-file: ")
}

func TestDoctorOfNetwork(t *testing.T) {
	t.Parallel()
	taken := kit.Loopback(t)
	at, data := taken.Addr().String(), filepath.Join(t.TempDir(), "teamdata.db")
	for _, c := range []struct {
		args               []string
		check, state, text string
	}{
		{[]string{"--listen", at}, "listen", doctor.Problem, "taken by another program.*choose another"},
		{[]string{"--metrics", at}, "listen", doctor.Problem, "taken by another program"},
		{[]string{"--listen", "unix:" + data + ".d/http"}, "listen", doctor.Problem, "no folder.*mkdir"},
		{[]string{"--listen", "unix:" + data + ".http"}, "listen", doctor.OK, "has a folder"},
		{[]string{"--listen", "0.0.0.0:0", "--http"}, "listen", doctor.Warning, "plain HTTP"},
		{[]string{"--trusted-proxies", "loopback,private,203.0.113.7"}, "proxies", doctor.OK, "203.0.113.7"},
		{[]string{"--trusted-proxies", "0.0.0.0/0"}, "proxies", doctor.Problem, "0.0.0.0/0 trusts strangers"},
		{[]string{"--trusted-proxies", "::/0"}, "proxies", doctor.Problem, "::/0 trusts strangers"},
		{[]string{"--trusted-proxies", "proxy"}, "settings", doctor.Problem, `--trusted-proxies: "proxy"`},
		{[]string{"--allow-endpoint-cidr", "10.0.0.0/8"}, "endpoints", doctor.OK, "10.0.0.0/8"},
		{[]string{"--allow-endpoint-cidr", "0.0.0.0/0"}, "endpoints", doctor.Problem, "every network"},
		{[]string{"--allow-endpoint-cidr", "169.254.169.0/24"}, "endpoints", doctor.Warning, "metadata"},
		{[]string{"--allow-endpoint-cidr", "127.0.0.1"}, "endpoints", doctor.Warning, "this machine"},
	} {
		finds(t, examined(t, append([]string{"--data", data}, c.args...)...), c.check, c.state, c.text)
	}
}

func TestDoctorOfCertificate(t *testing.T) {
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	pem, err := ca.Issue(time.Now(), []string{program.Domain})
	kit.Must(t, err)
	folder := t.TempDir()
	both, root := filepath.Join(folder, "both.pem"), filepath.Join(folder, "root.pem")
	kit.WriteFile(t, both, string(pem))
	kit.WriteFile(t, root, string(ca.CertificatePEM()))
	args := []string{"--tls-cert", both, "--tls-key", both, "--data", filepath.Join(folder, "teamdata.db")}
	list := examined(t, append(args, "--webhook-ca", root)...)
	finds(t, list, "certificate", doctor.OK, "match.*valid until")
	finds(t, list, "certificate", doctor.Warning, "not trusted on this machine.*intermediate")
	finds(t, list, "CA files", doctor.OK, "--webhook-ca .* holds")
	if runtime.GOOS == "linux" { // elsewhere the system alone says whom it trusts
		t.Setenv("SSL_CERT_FILE", root)
		finds(t, examined(t, args...), "certificate", doctor.OK, "its chain leads")
	}

	list = examined(t, "--data", args[5], "--tls-cert", "/x/a; b/c.pem", "--tls-key", "k.pem")
	want := doctor.Finding{
		Check: "certificate", State: doctor.Problem, Fix: "give PEM files with a certificate and its key",
		Text: "certificate file /x/a; b/c.pem with key file k.pem: open /x/a; b/c.pem: no such file or directory",
	}
	if !slices.Contains(list, want) {
		t.Errorf("there is no %+v in\n%v", want, list)
	}

	kit.WriteFile(t, both, "rubbish")
	list = examined(t, append(args, "--webhook-ca", both)...)
	finds(t, list, "certificate", doctor.Problem, "give PEM files")
	finds(t, list, "CA files", doctor.Problem, "contains no PEM certificate")
}

func TestDoctorOfBackups(t *testing.T) {
	t.Parallel()
	data, dir := dataFile(t), filepath.Join(t.TempDir(), "backups")
	check := func() []doctor.Finding { return examined(t, "--data", data, "--backup-dir", dir) }
	finds(t, examined(t, "--data", data), "backups", doctor.Warning, "no backups")
	finds(t, check(), "backups", doctor.Warning, "no backup in .* yet")
	kit.Must(t, os.Mkdir(dir, 0o700))
	old := filepath.Join(dir, "teamdata-20200101T000000Z.db")
	program.MustRun(t, "backup", old, "--data", data)
	list := check()
	finds(t, list, "backups", doctor.Warning, "old, but one is due every 24h")
	finds(t, list, "backups", doctor.OK, "is sound")
	kit.WriteFile(t, filepath.Join(dir, time.Now().UTC().Format("teamdata-20060102T150405Z.db")), "rubbish")
	finds(t, check(), "backups", doctor.Problem, "not a teamdata file")
	finds(t, examined(t, "--data", data, "--backup-dir", old), "backups", doctor.Problem, "is not a folder")
}

func TestDoctorOfMail(t *testing.T) {
	box := program.OpenPostbox(t)
	args := []string{"--data", filepath.Join(t.TempDir(), "teamdata.db"), "--smtp-ca", box.CAFile, "--mail-from", "a@acme.example"}
	t.Setenv("TEAMDATA_SMTP_URL", box.URL)
	finds(t, examined(t, args...), "mail", doctor.OK, "not called")
	finds(t, examined(t, append(args, "--online")...), "mail", doctor.OK, "accepts the login")
	t.Setenv("TEAMDATA_SMTP_URL", strings.Replace(box.URL, "s3cr3t", "wr0ng-s3cr3t", 1))
	list := examined(t, append(args, "--online")...)
	finds(t, list, "mail", doctor.Problem, "check --smtp-url")
	if text, _ := json.Marshal(list); bytes.Contains(text, []byte("wr0ng")) {
		t.Errorf("it shows the password:\n%s", text)
	}
	if len(box.Mails()) > 0 || len(box.PutOff()) > 0 {
		t.Error("a mail was sent")
	}
}
