package serve_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// A release says which one it is wherever it can be asked, and to whom it calls: the
// same version in each place.
func TestVersion(t *testing.T) {
	t.Parallel()
	const version = "98.7.6"
	binary := program.Build(t, version, nil)
	if out, err := program.RunBy(t, binary, "--version"); err != nil || !strings.Contains(out, version) {
		t.Errorf("--version prints %s, %v", out, err)
	}
	var told struct{ Version string }
	if out, err := program.RunBy(t, binary, "version", "--json"); err != nil || json.Unmarshal([]byte(out), &told) != nil || told.Version != version {
		t.Errorf("version --json prints %s, %v", out, err)
	}

	agents := make(chan string, 10)
	url, ca := program.ServeTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agents <- r.UserAgent() }))
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.ServeBy(t, binary, data, "--seed", program.MailSeed(t, url), "--metrics", "127.0.0.1:0", "--webhook-ca", ca, "--allow-endpoint-cidr", "127.0.0.1/32")
	p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey)
	if agent := <-agents; agent != "teamdata/"+version {
		t.Errorf("a webhook comes from %q", agent)
	}
	if n := program.Scraped(t, http.DefaultClient, p.MetricsURL())["teamdata_build_info version="+version]; n != 1 {
		t.Errorf("teamdata_build_info of %s is %g", version, n)
	}
	link, err := program.RunBy(t, binary, "signin-link", "usr_ada", "--data", data)
	kit.Must(t, err)
	if page := program.SignInBy(p, program.LinkPattern.FindString(link)); !strings.Contains(page, "<p>teamdata "+version+"</p>") {
		t.Errorf("the settings page does not say %s:\n%s", version, page)
	}
	if a := kit.Get(t, program.NewOperator(t, data).Client, "http://teamdata/admin/v1/status"); !strings.Contains(a.Body, `"version":"`+version+`"`) {
		t.Errorf("the status is %d %s", a.Status, a.Body)
	}

	elsewhere, ca := program.ServeTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agents <- r.URL.Path + " " + r.UserAgent() }))
	elsewhere = strings.TrimSuffix(elsewhere, "/hook")
	token := kit.NewFile(t, "token", "opr_1.secret")
	for path, args := range map[string][]string{
		"/admin/v1/orgs": {"org", "list", "--server", elsewhere, "--operator-token-file", token, "--ca-file"},
		"/readyz":        {"healthcheck", "--url", elsewhere, "--ca-file"},
		"/directory":     {"doctor", "--online", "--data", data, "--domain", "data.acme.test", "--acme-accept-terms", "--acme-directory", elsewhere + "/directory", "--acme-ca"},
	} {
		program.RunBy(t, binary, append(args, ca)...) // what it makes of the answer is tested elsewhere
		if agent := <-agents; agent != path+" teamdata/"+version {
			t.Errorf("teamdata %s calls as %q", args[0], agent)
		}
	}
}
