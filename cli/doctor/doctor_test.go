package doctor

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/internal/localca"
	"teamdata/internal/system"
)

const ownDomain = "data.example.com"

// finds wants one finding of a check, whose text and fix match.
func finds(t *testing.T, list []Finding, check, state, text string) {
	t.Helper()
	for _, f := range list {
		if f.Check == check && f.State == state && regexp.MustCompile(text).MatchString(f.Text+"; "+f.Fix) {
			return
		}
	}
	t.Errorf("no %s of %s says %q in\n%v", state, check, text, list)
}

func TestFileSystems(t *testing.T) {
	for kind, state := range map[string]string{system.Network: Warning, system.Layer: Warning, system.Memory: Warning, "": OK} {
		var d doctor
		d.checkFileSystem(kind)
		finds(t, d.list, "", state, ".")
	}
}

func TestCertificateThatEnds(t *testing.T) {
	ca, err := localca.NewCA(time.Now(), "operator")
	kit.Must(t, err)
	pem, err := ca.Issue(time.Now(), []string{ownDomain})
	kit.Must(t, err)
	both := filepath.Join(t.TempDir(), "both.pem")
	kit.WriteFile(t, both, string(pem))
	leaf, err := localca.LoadLeaf(pem)
	kit.Must(t, err)
	d := doctor{now: func() time.Time { return leaf.Leaf.NotAfter.Add(-time.Hour) }}
	d.TLSCert, d.TLSKey = both, both
	d.checkCertificate(t.Context())
	finds(t, d.list, "", Warning, "expires in 1h0m0s.*renew it")
}

func TestACME(t *testing.T) {
	authority, second, ca := pebble.New(t), pebble.New(t), filepath.Join(t.TempDir(), "acme.ca.pem")
	second.Open(pebble.Config{})
	authority.Open(pebble.Config{})
	kit.WriteFile(t, ca, string(authority.CAPEM))
	check := func(online bool, now func() time.Time) []Finding {
		d := doctor{Config: Config{Online: online}, now: now}
		d.Domains, d.ACMEDirectories, d.ACMECA = []string{ownDomain}, []string{authority.Directory, second.Directory}, ca
		d.checkACME(t.Context())
		return d.list
	}
	finds(t, check(false, time.Now), "", OK, "not asked")
	if n := authority.Calls.Load(); n > 0 {
		t.Errorf("%d calls that nobody asked for", n)
	}
	finds(t, check(true, time.Now), "", OK, "answers")
	later := func() time.Time { return time.Now().Add(time.Hour) }
	finds(t, check(true, later), "", Problem, "the clock is off by (1h|59m)")
	authority.Stop()
	list := check(true, time.Now)
	finds(t, list, "", Problem, authority.Directory+".*check --acme-directory")
	finds(t, list, "", OK, second.Directory+" answers")
}
