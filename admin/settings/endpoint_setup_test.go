package settings

import (
	"cmp"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/docs"
	"teamdata/store"
	"teamdata/store/storetest"
)

// The page of a new endpoint has its secret, the samples of the documentation and a test,
// whose arrival it shows. The secret is shown once, unless it is asked for, and the audit
// log says so.
func TestSetup(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	form := url.Values{"nonce": {"n"}, "url": {"https://example.com/hook"}, "events": {"member.added"}, "secret": {ownSecret}}
	added := strings.TrimPrefix(b.post("/orgs/org_acme/new-endpoint", form).location(), Path)
	page := b.get(added)
	page.wants(t, 200, `title="https://example.com/hook"><b>example.<wbr>com</b><span>/<wbr>hook</span> was added</h1>`, `<code data-copy>`+ownSecret, "Waiting for the first test", "Send test</button>", "<option>file.uploaded</option>")
	for _, s := range docs.Samples() {
		page.wants(t, 200, ">"+s.Language+"</label>", string(escapedText(s.Code)), `sample-`+s.ID+`"><pre tabindex="0" data-copy>`+escapedText(cmp.Or(s.Verify(), s.Code)))
	}
	id := w.endpoints()[0].ID
	if got, want := w.audited(), "usr_ada endpoint.created "+id+"\nusr_ada endpoint.secretShown "+id; !strings.HasSuffix(got, want) {
		t.Errorf("the audit log has\n%s", got)
	}

	path := "/orgs/org_acme/endpoints/" + id
	sent := b.post(path+"/test", url.Values{"nonce": {"n"}, "from": {"setup"}, "type": {"file.uploaded"}})
	test := regexp.MustCompile(`whd_\w+`).FindString(sent.location())
	sent.leads(t, path+"/setup?test="+test)
	after := b.get(path + "/setup?test=" + test)
	after.wants(t, 200, `data-live="/settings`+path+`/setup/live?test=`+test, "file.uploaded is queued.", "Refresh", "Show<span")
	if strings.Contains(after.Body, ownSecret[6:]) || strings.Count(w.audited(), "secretShown") != 1 {
		t.Error("the secret is shown again, unasked")
	}
	live := func() reply { return b.get(path + "/setup/live?test=" + test) }
	w.attempt(test, 500, "the receiver answered 500", "no", 1)
	live().wants(t, 200, "file.uploaded was not acknowledged.", "got 500 Internal Server Error after 12.3 ms", "It is tried again.", "/deliveries/"+test)
	if strings.Contains(live().Body, "data-done") {
		t.Error("it is done")
	}
	w.attempt(test, 204, "", "")
	live().wants(t, 200, "data-done", "file.uploaded arrived.", "204 after 12.3 ms", path+"/verify")
	b.get(path+"/setup?test=whd_none").wants(t, 200, "Waiting for the first test")
}

// escapedText is a text as a template shows it.
func escapedText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "`", "`").Replace(text)
}

// deliveriesToOthers makes whe_1, and deliveries to an endpoint beside it and to one of another org.
func (w *env) deliveriesToOthers() []store.Delivery {
	w.Helper()
	w.endpoint("whe_1", "member.added")
	w.endpoint("whe_2", "member.added")
	var theirs store.Delivery
	w.Update(func(tx store.Tx) (err error) {
		theirs, err = store.SendTest(tx, "org_other", "whe_other")
		return err
	})
	return []store.Delivery{theirs, w.test("whe_2")}
}

// What another endpoint was sent is not shown on this one's page.
func TestSetupOfAnothersTest(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	for _, d := range w.deliveriesToOthers() {
		b.get("/orgs/org_acme/endpoints/whe_1/setup?test="+d.ID).wants(t, 200, "Waiting for the first test")
	}
}

// The commands that are shown trust the CA that they need: the API's is the server's own,
// an endpoint's that of --webhook-ca where no public one could be.
func TestCommandsTrustTheCA(t *testing.T) {
	w := newEnv(t)
	w.server = httptest.NewTLSServer(New(storetest.Scoped(t, w.Store), Config{
		PublicURL: "https://localhost:8443", Log: zerolog.Nop(), CurlOptions: "--cacert /data/own.ca.pem ", EndpointCA: "/data/hooks.pem",
	}))
	t.Cleanup(w.server.Close)
	b := w.signedIn("usr_ada")
	b.get(overviewPath).wants(t, 200, "curl --cacert /data/own.ca.pem \\\n", "https://localhost:8443/api/v1/members", "signs its own certificate")
	b.newKey(readKey("one")).wants(t, 201, "curl --cacert /data/own.ca.pem \\\n", "signs its own certificate", "read -rs TEAMDATA_KEY")
	b.addPull(url.Values{"key": {"yes"}}).wants(t, 201, "curl --cacert /data/own.ca.pem -sS ", "teamdata listen --ca-file /data/own.ca.pem --pull https://localhost:8443/pull/")
	w.addEndpoint(store.Endpoint{ID: "whe_name"})
	w.addEndpoint(store.Endpoint{ID: "whe_address", URL: "https://127.0.0.1:9443/hook"})
	for id, want := range map[string]string{"whe_name": "curl --globoff", "whe_address": "curl --cacert &#39;/data/hooks.pem&#39; --globoff"} {
		b.get("/orgs/org_acme/deliveries/"+w.test(id).ID).wants(t, 200, want)
	}
}
