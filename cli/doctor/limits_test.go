package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/hint"
	"teamdata/internal/localca"
	"teamdata/store"
)

// The numbers in this file are written out: they are what the doctor promises, and
// a constant that changes fails a test.

// worst is the worst state that was found.
func (f *Findings) worst() string {
	for _, state := range []string{Problem, Warning} {
		if f.count(state) > 0 {
			return state
		}
	}
	return OK
}

func (d *doctor) found(t *testing.T, what any, want string) {
	t.Helper()
	if got := d.worst(); got != want {
		t.Errorf("%v: the worst is %s, not %s: %v", what, got, want, d.list)
	}
}

// A synced write may take 50 ms.
func TestSlowSync(t *testing.T) {
	for took, want := range map[time.Duration]string{50 * time.Millisecond: OK, 50*time.Millisecond + 1: Warning} {
		var d doctor
		d.checkSync(took)
		d.found(t, took, want)
	}
}

// Little is free below 256 MiB, or below the size of the data file; nothing below
// 1 MiB.
func TestFreeSpace(t *testing.T) {
	for _, test := range []struct {
		free uint64
		size int64
		want string
	}{
		{256 << 20, 0, OK}, {256<<20 - 1, 0, Warning},
		{1 << 30, 1 << 30, OK}, {1<<30 - 1, 1 << 30, Warning},
		{1 << 20, 0, Warning}, {1<<20 - 1, 0, Problem},
	} {
		var d doctor
		d.checkFree("the disk", test.free, test.size)
		d.found(t, test, test.want)
	}
}

// The data file may be a minute ahead of the clock, and the clock a minute off that
// of the ACME authority.
func TestClockLimits(t *testing.T) {
	for ahead, want := range map[time.Duration]string{time.Minute: OK, time.Minute + time.Second: Problem} {
		now := time.Now().Truncate(time.Second)
		d := doctor{now: func() time.Time { return now }}
		d.Data = filepath.Join(t.TempDir(), "teamdata.db")
		writeFile(t, d.Data, 0o600)
		kit.Must(t, os.Chtimes(d.Data, now, now.Add(ahead)))
		d.checkClock(t.Context())
		if got := d.count(Problem) > 0; got != (want == Problem) {
			t.Errorf("%s ahead: %v", ahead, d.list)
		}
		for _, off := range []time.Duration{ahead, -ahead} {
			var d doctor
			d.checkOffset(off)
			d.found(t, off, want)
		}
	}
}

func writeFile(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

// A certificate is to be renewed 14 days before its end.
func TestRenewal(t *testing.T) {
	const day = 24 * time.Hour
	end := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{14 * day: OK, 14*day - time.Second: Warning} {
		d := doctor{now: func() time.Time { return end.Add(-left) }}
		d.checkEnd(store.CertificateStatus{NotAfter: end})
		d.found(t, left, want)
	}
}

// The newest backup may be as old as twice the time between two.
func TestBackupAge(t *testing.T) {
	made := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]int{48 * time.Hour: 0, 48*time.Hour + time.Second: 1} {
		d := doctor{now: func() time.Time { return made.Add(age) }}
		d.BackupDir, d.BackupEvery = t.TempDir(), 24*time.Hour
		writeFile(t, filepath.Join(d.BackupDir, "teamdata-20261121T120000Z.db"), 0o600)
		d.checkNewest(t.Context())
		if got := d.count(Warning); got != want {
			t.Errorf("%s old: %d warnings, not %d: %v", age, got, want, d.list)
		}
	}
}

// Nobody but the owner may open the data file, and nobody but the owner and the
// group a key.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such modes")
	}
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	pair, err := ca.Issue(time.Now(), []string{ownDomain})
	kit.Must(t, err)
	for _, bit := range []fs.FileMode{0, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001} {
		path := filepath.Join(t.TempDir(), "file")
		writeFile(t, path, 0o600|bit)
		d := doctor{now: time.Now}
		d.Data = path
		d.checkData(t.Context())
		d.found(t, fmt.Sprintf("a data file of mode %04o", 0o600|bit), map[bool]string{true: OK, false: Problem}[bit == 0])

		key := map[bool]string{true: OK, false: Problem}[bit&0o007 == 0]
		d = doctor{now: time.Now}
		d.SealKeyFile = path
		kit.WriteFile(t, path, fmt.Sprintf("%064x", 1))
		d.checkSealKey(t.Context())
		d.found(t, fmt.Sprintf("a seal key of mode %04o", 0o600|bit), key)

		d = doctor{now: time.Now}
		d.TLSCert, d.TLSKey = path, path
		kit.WriteFile(t, path, string(pair))
		d.checkCertificate(t.Context())
		if got := d.count(Problem) > 0; got != (key == Problem) {
			t.Errorf("a private key of mode %04o: %v", 0o600|bit, d.list)
		}
	}
}

// Ranges that take in a good part of the internet begin at a length of 7 for IPv4
// and of 15 for IPv6; private networks of IPv6 may be as wide as they are.
func TestWideRanges(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.0/8": false, "10.0.0.0/7": true, "2001::/16": false, "2000::/15": true,
		"fc00::/7": false, "fd00::/8": false, "fc00::/6": true,
	} {
		if got := isWide(netip.MustParsePrefix(text)); got != want {
			t.Errorf("%s is wide: %t", text, got)
		}
	}
}

// Each network that endpoints are better kept from is told of, from its first
// address to its last, and so is a range that names cloud metadata.
func TestGuardedRanges(t *testing.T) {
	for text, want := range map[string]string{
		"126.255.255.255/32": OK, "127.0.0.0/32": Warning, "127.255.255.255/32": Warning, "128.0.0.0/32": OK,
		"169.254.169.254/32": Warning, "169.254.169.0/24": Warning, "169.254.169.255/32": OK, "169.254.0.0/16": OK,
		"::1/128": Warning, "::2/128": OK, "fd00:ec2::254/128": Warning, "fd00:ec2::253/128": OK,
	} {
		var d doctor
		d.checkAllowed(netip.MustParsePrefix(text))
		d.found(t, text, want)
	}
}

// A check that waits for a server ends after 15 seconds, and the next has as long.
func TestCheckLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d doctor
		hangs := func(d *doctor, ctx context.Context) {
			<-ctx.Done()
			d.problem("", "%v", ctx.Err())
		}
		start := time.Now()
		d.run(t.Context(), []check{{"first", hangs}, {"second", hangs}})
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("two checks that hang took %s", took)
		}
		finds(t, d.list, "second", Problem, "deadline")
	})
}

// What is found is text, and what to do about it stands apart from it, whatever
// the text holds.
func TestFixesAreValues(t *testing.T) {
	var d doctor
	d.warned(hint.New("NAME_A; B is no setting", "unset it; or don't"))
	d.refused(errors.New("a; b"))
	want := []Finding{{"", Warning, "NAME_A; B is no setting", "unset it; or don't"}, {"", Problem, "a; b", ""}}
	for i, f := range d.list {
		if f != want[i] {
			t.Errorf("found %+v, not %+v", f, want[i])
		}
	}
	d = doctor{now: time.Now}
	d.TLSCert, d.TLSKey = "/x/a; b/c.pem", "k.pem"
	d.checkCertificate(t.Context())
	if f := d.list[0]; f.Fix != "give PEM files with a certificate and its key" ||
		f.Text != "certificate file /x/a; b/c.pem with key file k.pem: open /x/a; b/c.pem: no such file or directory" {
		t.Errorf("found %+v", f)
	}
}

// Counts agree with their nouns.
func TestVerdict(t *testing.T) {
	var f Findings
	for _, want := range []string{
		"", "1 problem, as listed; fix what is listed and run teamdata doctor again", "2 problems, as listed; fix what is listed and run teamdata doctor again",
	} {
		got := ""
		if err := f.Verdict(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("the verdict is %q, not %q", got, want)
		}
		f.problem("", "one")
	}
}

// Of what a server says that is not ready, 4 KiB are shown.
func TestReadyAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, strings.Repeat("x", 4097))
	}))
	defer s.Close()
	err := (&Probe{URL: s.URL}).Ready(t.Context())
	if want := "the server is not ready: " + strings.Repeat("x", 4096); err == nil || err.Error() != want {
		t.Errorf("ready is %.200v", err)
	}
}
