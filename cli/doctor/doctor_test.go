package doctor

import (
	"net/http"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/internal/localca"
	"teamdata/internal/system"
	"teamdata/store"
	"teamdata/store/boltstore"
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

// Of the certificates that a server tells of, those that are not renewed and those that
// endpoints show and that expire soon are warned of.
func TestCertificatesOfServer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	kit.Must(t, err)
	defer s.Close()
	api := app.NewAdmin(s, admin.Config{Version: "v1.2.3", Log: zerolog.Nop()}, func(of *admin.Status) {
		of.Since, of.Addresses = kit.Noon, []string{"https://here"}
		of.Certificates = []store.CertificateStatus{
			{Name: "client certificate of org_acme/whe_1", NotAfter: kit.Noon.AddDate(0, 0, 20)},
			{Name: "own.example", NotAfter: kit.Noon.AddDate(0, 0, 10), LastError: "no answer", LastErrorAt: kit.Noon},
			{Name: "data.example.com", Authority: "https://acme.test/dir", NotAfter: kit.Noon.AddDate(0, 0, 60)},
		}
	})
	l, err := socket.Listen(app.SocketPath("", data, ""), func(uint32) {})
	kit.Must(t, err)
	server := http.Server{Handler: api.Local()}
	go server.Serve(l)
	defer server.Close()
	d := doctor{now: time.Now}
	d.Data, d.Version = data, "v1.2.3"
	d.checkServer(t.Context())
	finds(t, d.list, "", OK, "version v1.2.3 serves https://here since ")
	finds(t, d.list, "", Warning, "^the client certificate of org_acme/whe_1 expires at "+regexp.QuoteMeta(d.when(kit.Noon.AddDate(0, 0, 20)))+"; teamdata endpoint update ENDPOINT --client-cert FILE --client-key FILE$")
	finds(t, d.list, "", Warning, "^the certificate own.example is not renewed: no answer; see its log$")
	finds(t, d.list, "", OK, "^the certificate data.example.com is from https://acme.test/dir")
}
