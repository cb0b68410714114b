package settings

import (
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
	"teamdata/store"
)

const sendingPath = "/orgs/org_acme/endpoints/whe_1/settings"

// postParts sends a form as browsers send one with files: those of which the name of the
// field is in files.
func (b *browser) postParts(path string, form url.Values, files url.Values) reply {
	b.Helper()
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			kit.Must(b, parts.WriteField(name, value))
		}
	}
	for name, values := range files {
		part, err := parts.CreateFormFile(name, name+".pem")
		kit.Must(b, err)
		_, err = part.Write([]byte(values[0]))
		kit.Must(b, err)
	}
	kit.Must(b, parts.Close())
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.server.URL+Path+path, &body)
	kit.Must(b, err)
	r.Header.Set("Content-Type", parts.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return reply{kit.Fetch(b, b.client, r)}
}

// issued is a certificate and its key, both in PEM; its issuer's certificate follows it.
func issued(t testing.TB, name, by string, end time.Time) (chain, key string) {
	t.Helper()
	ca := issuer.New(t, by)
	certificate, key := ca.Issue(t, name, end)
	return certificate + ca.PEM, key
}

// sendingFields are the fields of the form of whe_1 without any option.
func sendingFields() url.Values {
	return url.Values{
		"url": {"https://example.com/whe_1"}, "events": {"member.added"}, "rate": {""}, "per": {"s"}, "maxInFlight": {""},
		"headerName": {""}, "headerValue": {""},
	}
}

// The options of an endpoint are set, kept and cleared by its form. What is secret of them is
// in no page, except for headers that are shown, which is audited.
func TestSendingOptions(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get(sendingPath).wants(t, 200, `enctype="multipart/form-data"`, "Default: no limit.", "Default: up to 32.", "Default: none.", "Default: the CAs that this server trusts.", "0 of 16.")
	chain, key := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(14*24*time.Hour))
	ca, _ := issued(t, "receivers.acme.example", "Acme Root", w.Now().Add(400*24*time.Hour))
	form, files := sendingFields(), url.Values{"clientCertificate": {chain}, "clientKey": {key}, "ca": {ca}}
	form["rate"], form["per"], form["maxInFlight"] = []string{" 10 "}, []string{"min"}, []string{"4"}
	form["headerName"], form["headerValue"] = []string{"X-Api-Key"}, []string{"open-sesame"}
	b.postParts(sendingPath, form, files).leads(t, sendingPath+"?done=endpoint-updated")
	o := w.findEndpoint("whe_1").Sending
	if o.Rate != "10/min" || o.MaxInFlight != 4 || !slices.Equal(o.HeaderNames, []string{"X-Api-Key"}) || !slices.Equal(o.HeaderValues(), []string{"open-sesame"}) || o.ClientKey != key || o.ClientCertificate != chain || o.CA != ca {
		t.Fatalf("it has %+v", o)
	}
	page := b.get(sendingPath)
	page.wants(t, 200, `name="rate" value="10"`, `<option value="min" selected>a minute</option>`, `name="maxInFlight" value="4"`, "<code>X-Api-Key</code>", ">••••••••••••</span>", "1 of 16.",
		"teamdata.acme.example and 1 more", "Issued by Acme Internal CA.", "Ends on <time", ", in 14 days", "receivers.acme.example and 1 more")
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "The client certificate of this endpoint ends", "in 14 days")
	if strings.Contains(w.audited(), "headersShown") {
		t.Error("values that nobody saw count as shown")
	}
	b.get("/orgs/org_acme/endpoints/whe_1/headers").wants(t, 200, "<h2><code>X-Api-Key</code></h2>", "<code data-copy>open-sesame</code>")
	if got := w.audited(); !strings.HasSuffix(got, "usr_ada endpoint.headersShown whe_1") {
		t.Errorf("the audit log has\n%s", got)
	}
	b.get("/orgs/org_acme/audit-log").wants(t, 200, "viewed the headers of ")

	// Files that are not chosen keep what is there; another header comes beside the first.
	form["headerName"], form["headerValue"] = []string{"X-Tenant"}, []string{"7"}
	b.postParts(sendingPath, form, url.Values{"clientCertificate": {""}, "clientKey": {""}, "ca": {""}}).wants(t, 303)
	if o := w.findEndpoint("whe_1").Sending; len(o.HeaderNames) != 2 || o.ClientKey != key || o.CA != ca {
		t.Errorf("it has %+v", o)
	}
	for _, shown := range []string{sendingPath, "/orgs/org_acme/endpoints/whe_1", "/orgs/org_acme/audit-log", "/orgs/org_acme/endpoints"} {
		page := b.get(shown)
		page.wants(t, 200)
		for _, secret := range []string{"open-sesame", keyText(key)} {
			if strings.Contains(html.UnescapeString(page.Body), secret) {
				t.Errorf("%s has %q", shown, secret)
			}
		}
	}
	w.setRole("usr_grace", store.RoleViewer)
	viewer := w.signedIn("usr_grace")
	seen := viewer.get(sendingPath)
	seen.wants(t, 200, "10 a minute", "<code>X-Api-Key</code>", "teamdata.acme.example")
	if strings.Contains(seen.Body, "/whe_1/headers") || strings.Contains(seen.Body, "<form method=\"post\" enctype") {
		t.Errorf("a viewer sees %s", seen.Body)
	}
	viewer.get("/orgs/org_acme/endpoints/whe_1/headers").wants(t, 403)

	w.Advance(15 * 24 * time.Hour)
	b = w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "The client certificate of this endpoint ended")
	form = sendingFields()
	form["removeHeader"], form["removeFile"] = []string{"X-Api-Key", "X-Tenant"}, []string{"clientCertificate", "ca"}
	b.postParts(sendingPath, form, nil).wants(t, 303)
	if o := w.findEndpoint("whe_1").Sending; !o.Equal(&store.SendOptions{}) {
		t.Errorf("it has %+v", o)
	}
}

// keyText is what PEM says of a key, which no other text has.
func keyText(key string) string { return strings.Split(key, "\n")[1] }

// The endpoint's page says until when it waits for its rate.
func TestWaitingForRate(t *testing.T) {
	w := newEnv(t)
	e := w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	form := sendingFields()
	form["rate"], form["per"] = []string{"1"}, []string{"h"}
	b.post(sendingPath, form).wants(t, 303)
	const page, waits = "/orgs/org_acme/endpoints/whe_1", "Waiting for its rate until <time"
	w.test("whe_1")
	if strings.Contains(b.get(page).Body, waits) {
		t.Error("it waits before anything was sent")
	}
	w.Update(func(tx store.Tx) error {
		_, err := store.ReserveAttempts(tx, &e, w.Now(), store.Grant{}, nil)
		return err
	})
	b.get(page).wants(t, 200, waits, "No more than 1 an hour may be sent there.")
	w.Advance(2 * time.Hour)
	if strings.Contains(w.signedIn("usr_ada").get(page).Body, waits) {
		t.Error("it waits after the hour")
	}
}

// A new endpoint may have options from its first event on. If it is pulled, what is in their
// fields doesn't count.
func TestAddWithOptions(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	const path = "/orgs/org_acme/new-endpoint"
	b.get(path).wants(t, 200, `<details class="of-push"><summary`, `name="headerName"`)
	chain, key := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(time.Hour))
	form, files := sendingFields(), url.Values{"clientCertificate": {chain}, "clientKey": {key}}
	form["nonce"], form["headerName"], form["headerValue"] = []string{"1"}, []string{"X-Api-Key"}, []string{"open-sesame"}
	form["rate"] = []string{"0"}
	refused := b.postParts(path, form, files)
	refused.wants(t, 400, `<details class="of-push" open>`, `id="rate-error"`)
	if strings.Contains(refused.Body, "open-sesame") {
		t.Error("a secret is shown")
	}
	form["rate"] = []string{"10"}
	b.postParts(path, form, files).wants(t, 303)
	o := w.endpoints()[0].Sending
	if o.Rate != "10/s" || !slices.Equal(o.HeaderValues(), []string{"open-sesame"}) || o.ClientKey != key {
		t.Errorf("it has %+v", o)
	}
	form["kind"], form["nonce"], form["description"] = []string{"pull"}, []string{"2"}, []string{"Loader"}
	b.postParts(path, form, files).wants(t, 303)
	for _, e := range w.endpoints() {
		if e.Pull() && !e.Sending.Equal(&store.SendOptions{}) {
			t.Errorf("one that is pulled has %+v", e.Sending)
		}
	}
}

// What is wrong with an option is said beside its field, and the form keeps what was typed
// except for secrets.
func TestSendingErrors(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	chain, key := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(time.Hour))
	_, other := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(time.Hour))
	b := w.signedIn("usr_ada")
	for name, test := range map[string]struct {
		form, files url.Values
		wants       []string
	}{
		"rate":           {form: url.Values{"rate": {"ten"}}, wants: []string{`href="#rate"`, `id="rate-error"`, "Rate must be a whole number from 1 to 999,999 a second, a minute or an hour; leave it empty for no limit.", `value="ten"`}},
		"unit":           {form: url.Values{"rate": {"10"}, "per": {"day"}}, wants: []string{`id="rate-error"`}},
		"in flight":      {form: url.Values{"maxInFlight": {"33"}, "rate": {"7"}}, wants: []string{`id="maxInFlight-error"`, `value="33"`, `name="rate" value="7"`}},
		"none in flight": {form: url.Values{"maxInFlight": {"0"}}, wants: []string{`id="maxInFlight-error">At the same time is not a whole number`}},
		"reserved":       {form: url.Values{"headerName": {"Webhook-Id"}, "headerValue": {"secret-value"}}, wants: []string{`href="#headers"`, `id="headers-error"`, "the signature", `name="headerName" value="Webhook-Id"`}},
		"no value":       {form: url.Values{"headerName": {"X-Api-Key"}}, wants: []string{`id="headers-error">Headers has no value for X-Api-Key`}},
		"no name":        {form: url.Values{"headerValue": {"secret-value"}}, wants: []string{`id="headers-error">Headers has no name`}},
		"line":           {form: url.Values{"headerName": {"X-Api-Key"}, "headerValue": {"secret-value\r\nwebhook-id: x"}}, wants: []string{`id="headers-error"`}},
		"another's key":  {files: url.Values{"clientCertificate": {chain}, "clientKey": {other}}, wants: []string{`href="#clientKey"`, `id="clientKey-error"`}},
		"no key":         {files: url.Values{"clientCertificate": {chain}}, wants: []string{`id="clientKey-error"`}},
		"a key as CA":    {files: url.Values{"ca": {key}}, wants: []string{`id="ca-error">CA holds`}},
	} {
		t.Run(name, func(t *testing.T) {
			form := sendingFields()
			for field, values := range test.form {
				form[field] = values
			}
			r := b.postParts(sendingPath, form, test.files)
			r.wants(t, 400, test.wants...)
			for _, secret := range []string{"secret-value", keyText(key), keyText(other)} {
				if strings.Contains(html.UnescapeString(r.Body), secret) {
					t.Errorf("the page has %q", secret)
				}
			}
		})
	}
	if o := w.findEndpoint("whe_1").Sending; !o.Equal(&store.SendOptions{}) {
		t.Errorf("it has %+v", o)
	}
	cut, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.server.URL+Path+sendingPath, strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"url\"\r\n\r\nhttps://other.example\r\n"))
	kit.Must(t, err)
	cut.Header = http.Header{"Content-Type": {`multipart/form-data; boundary=x`}, "Sec-Fetch-Site": {"same-origin"}}
	reply{kit.Fetch(t, b.client, cut)}.wants(t, 400, "could not be read")
	cut, err = http.NewRequestWithContext(w.Context(), http.MethodPost, w.server.URL+Path+sendingPath, strings.NewReader("--x--\r\n"))
	kit.Must(t, err)
	cut.Header = http.Header{"Content-Type": {`multipart/form-data; boundary=x`}, "Sec-Fetch-Site": {"cross-site"}}
	reply{kit.Fetch(t, b.client, cut)}.wants(t, 403)
}

// A browser can't be given a file again, so a form that is shown again says which it lost, in
// its summary and beside the field, and opens what the field is in.
func TestFilesChosenAgain(t *testing.T) {
	w := newEnv(t)
	chain, key := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(time.Hour))
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	const path = "/orgs/org_acme/new-endpoint"
	form, files := sendingFields(), url.Values{"clientCertificate": {chain}, "clientKey": {key}, "ca": {""}}
	form["nonce"] = []string{"1"}
	shown := b.postParts(path, form, files) // another endpoint has the URL
	shown.wants(t, 409, "There are problems:", `<details class="of-push" open>`, `<a href="#same-url">`, `<a href="#clientCertificate">`, `<a href="#clientKey">`,
		`id="clientKey-error">Client key was not kept; choose the file again.`, `name="clientKey" accept=".pem,.key" aria-invalid="true" aria-describedby="clientKey-error key-hint"`)
	if strings.Contains(shown.Body, `#ca"`) || strings.Contains(shown.Body, `id="ca-error"`) {
		t.Error("a file that was not chosen is missed")
	}
	form["kind"], form["events"] = []string{"pull"}, nil
	if shown := b.postParts(path, form, files); strings.Contains(shown.Body, `<a href="#clientKey">`) {
		t.Error("the summary leads to a field that is not shown")
	}

	form, files["ca"] = sendingFields(), []string{chain}
	b.postParts(sendingPath, form, files).wants(t, 303)
	form["rate"] = []string{"0"}
	for field, detail := range map[string]string{"clientKey": `aria-labelledby="client-of"`, "ca": `aria-labelledby="ca-of"`} {
		shown := b.postParts(sendingPath, form, url.Values{field: {key}})
		shown.wants(t, 400, `<a href="#rate">`, `<a href="#`+field+`">`, `id="`+field+`-error">`)
		_, part, _ := strings.Cut(shown.Body, detail)
		if open := strings.Index(part, "<details open>"); open < 0 || open > strings.Index(part, `name="`+field+`"`) {
			t.Errorf("the field %s is closed: %s", field, part)
		}
		if n := strings.Count(shown.Body, "<details open>"); n != 1 {
			t.Errorf("%d parts are open", n)
		}
	}
	form["rate"] = []string{""}
	shown = b.postParts(sendingPath, form, url.Values{"ca": {key}})
	shown.wants(t, 400, "There is a problem:", `id="ca-error">CA holds`)
	if strings.Contains(shown.Body, "was not kept") {
		t.Error("what is wrong with a file is said twice")
	}
}

// A header may have the name of a field, and one is removed without the other. Removed and
// added in one form, in another case too, it has the new value.
func TestHeaderNamedLikeFile(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	ca, _ := issued(t, "receivers.acme.example", "Acme Root", w.Now().Add(time.Hour))
	form := sendingFields()
	form["headerName"], form["headerValue"] = []string{"ca"}, []string{"1"}
	b.postParts(sendingPath, form, url.Values{"ca": {ca}}).wants(t, 303)
	form["headerName"], form["headerValue"], form["removeHeader"] = []string{"CA"}, []string{"2"}, []string{"ca"}
	b.postParts(sendingPath, form, nil).wants(t, 303)
	if o := w.findEndpoint("whe_1").Sending; o.CA != ca || !slices.Equal(o.HeaderNames, []string{"CA"}) || !slices.Equal(o.HeaderValues(), []string{"2"}) {
		t.Errorf("it has %+v", o)
	}
	form = sendingFields()
	form["removeFile"], form["rate"] = []string{"ca"}, []string{"0"}
	b.postParts(sendingPath, form, nil).wants(t, 400, `name="removeHeader" value="CA">`, `name="removeFile" value="ca" checked>`)
	form["rate"] = []string{""}
	b.postParts(sendingPath, form, nil).wants(t, 303)
	if o := w.findEndpoint("whe_1").Sending; o.CA != "" || !slices.Equal(o.HeaderNames, []string{"CA"}) {
		t.Errorf("it has %+v", o)
	}
}

// What the session's end interrupts is carried over the sign-in without secrets.
func TestSendingDraft(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "member.added")
	w.withPassword("usr_ada")
	_, key := issued(t, "teamdata.acme.example", "Acme Internal CA", w.Now().Add(time.Hour))
	form := sendingFields()
	form["rate"], form["headerName"], form["headerValue"] = []string{"77"}, []string{"X-Api-Key"}, []string{"open-sesame"}
	carried := w.newBrowser().postParts(sendingPath, form, url.Values{"clientKey": {key}})
	sealed := draftField.FindStringSubmatch(carried.Body)
	if sealed == nil {
		t.Fatalf("no draft: %d %.2000s", carried.Status, carried.Body)
	}
	restored := w.newBrowser().signInWith(sealed[1], "usr_ada")
	restored.wants(t, 200, `name="rate" value="77"`, `name="headerName" value="X-Api-Key"`, "<title>Error: ", `<a href="#clientKey">Client key was not kept; choose the file again.</a>`)
	if strings.Contains(restored.Body, `id="ca-error"`) {
		t.Error("a file that was not chosen is missed")
	}
	if strings.Contains(restored.Body, "open-sesame") || strings.Contains(html.UnescapeString(restored.Body), keyText(key)) {
		t.Error("a secret is carried")
	}
}

// An endpoint that is pulled has no options.
func TestNoSendingOfPulled(t *testing.T) {
	w := newEnv(t)
	w.Update(func(tx store.Tx) error {
		_, err := store.CreateEndpoint(tx, "", store.Endpoint{ID: "whe_1", OrgID: "org_acme", Events: []string{"*"}})
		return err
	})
	b := w.signedIn("usr_ada")
	page := b.get(sendingPath)
	page.wants(t, 200, "Event types")
	for _, field := range []string{"rate", "maxInFlight", "headerName", "clientKey", "ca"} {
		if strings.Contains(page.Body, `name="`+field+`"`) {
			t.Errorf("it has the field %s", field)
		}
	}
}

// Signals are chosen apart: all events don't include them, and their group does.
func TestSelectSignals(t *testing.T) {
	w := newEnv(t)
	w.endpoint("whe_1", "*")
	b := w.signedIn("usr_ada")
	const signals = `value="teamdata.*"`
	b.get(sendingPath).wants(t, 200, signals+`>Signals<span class="hint">not part of All events</span>`, `value="teamdata.apiKey.ended"><code>apiKey.ended</code>`)
	for _, name := range store.Signals {
		if signalHints[name] == "" {
			t.Errorf("the form has no hint about %s", name)
		}
	}
	form := sendingFields()
	for _, selected := range [][]string{{"*", "teamdata.*"}, {"*", "teamdata.delivery.failed"}, {"teamdata.delivery.failed", "teamdata.endpoint.*"}} {
		form["events"] = selected
		b.post(sendingPath, form).wants(t, 303)
		if got := w.findEndpoint("whe_1").Events; !slices.Equal(got, selected) {
			t.Errorf("it selects %q, not %q", got, selected)
		}
		page := b.get(sendingPath)
		page.wants(t, 200)
		for _, name := range selected {
			page.wants(t, 200, `value="`+name+`" checked`)
		}
		if got := strings.Contains(page.Body, signals+" checked"); got != slices.Contains(selected, "teamdata.*") {
			t.Errorf("%q: that the group is ticked is %t", selected, got)
		}
	}
	form["events"] = []string{"teamdata.*", "teamdata.delivery.failed"}
	b.post(sendingPath, form).wants(t, 303)
	if got := w.findEndpoint("whe_1").Events; !slices.Equal(got, []string{"teamdata.*"}) {
		t.Errorf("it selects %q", got)
	}
}
