package settings

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"teamdata/store"
)

// invoicePaid is an operator's own event type.
func (w *env) invoicePaid(schema string) {
	w.Helper()
	w.Update(func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, store.EventType{Name: "invoice.paid", Description: "An <invoice> was paid.", Schema: []byte(schema)})
		return err
	})
}

const invoiceSchema = `{"type":"object","required":["amount"],"properties":{"amount":{"type":"integer"},"currency":{"type":"string"}},"examples":[{"amount":1200,"currency":"EUR"}]}`

func TestEventTypes(t *testing.T) {
	w := newEnv(t)
	w.invoicePaid(invoiceSchema)
	w.endpoint("whe_1", "invoice.*")
	w.endpoint("whe_2", "invoice.paid", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/events").wants(t, 200, "/settings/orgs/org_acme/event-types")
	b.get("/orgs/org_acme/new-endpoint").wants(t, 200, "/settings/orgs/org_acme/event-types")
	list := b.get("/orgs/org_acme/event-types")
	list.wants(t, 200, "An &lt;invoice&gt; was paid.", "Somebody joins the org.", `2<span class="unseen"> select it`, `1<span class="unseen"> select it`, "This server</span>")
	for _, name := range append([]string{"invoice.paid"}, store.BuiltInEventTypes...) {
		list.wants(t, 200, "/settings/orgs/org_acme/event-types/"+name)
		b.get("/orgs/org_acme/event-types/"+name).wants(t, 200, "<h1>"+strings.ReplaceAll(name, ".", ".<wbr>")+"</h1>", "JSON Schema of", "Send test<span")
	}
	b.get("/orgs/org_acme/event-types/invoice.paid").wants(t, 200, "2 of 2 select it", "An &lt;invoice&gt; was paid.", "&#34;amount&#34;</span>: 1200", "The operator of this server")
	b.get("/orgs/org_acme/event-types/member.added").wants(t, 200, "1 of 2 select it", "Not selected", "Team Data API")
	b.get("/orgs/org_acme/event-types/none").wants(t, 404, "There is no such event type.")
}

var (
	exampleShown = regexp.MustCompile(`(?s)id="example".*?<pre[^>]*>(.*?)</pre>`)
	colourMark   = regexp.MustCompile(`</?span[^>]*>`) // of its colours
)

// The example of the catalogue is what a test of the type sends, but for its mark as a
// test and its time.
func TestCatalogueShowsWhatIsSent(t *testing.T) {
	w := newEnv(t)
	w.invoicePaid(invoiceSchema)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	for _, name := range append([]string{"invoice.paid"}, store.BuiltInEventTypes...) {
		var shown, sent map[string]any
		page := b.get("/orgs/org_acme/event-types/" + name)
		text := html.UnescapeString(colourMark.ReplaceAllString(exampleShown.FindStringSubmatch(page.Body)[1], ""))
		if err := json.Unmarshal([]byte(text), &shown); err != nil {
			t.Fatalf("%s: %v in %s", name, err, text)
		}
		form := url.Values{"type": {name}, "nonce": {b.nonce("/orgs/org_acme/event-types/" + name)}}
		r := b.post("/orgs/org_acme/endpoints/whe_1/test", form)
		if err := json.Unmarshal(w.bodyOf(regexp.MustCompile(`whd_\w+`).FindString(r.location())), &sent); err != nil {
			t.Fatal(err)
		}
		if data := shown["data"].(map[string]any); name == store.EventWebhookTest {
			data["endpointId"] = "whe_1" // that it names in the example is nobody's
		}
		if marked := sent["test"] == true; marked == (name == store.EventWebhookTest) {
			t.Errorf("%s is sent with test %v", name, sent["test"])
		}
		delete(sent, "test")
		sent["timestamp"] = shown["timestamp"]
		if got, _ := json.Marshal(sent); string(got) != asJSON(shown) {
			t.Errorf("%s is sent as %s, and shown as %s", name, got, asJSON(shown))
		}
	}
}

func asJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// bodyOf is the body of a delivery's event.
func (w *env) bodyOf(id string) (body []byte) {
	w.Helper()
	w.View(func(tx store.Tx) error {
		d, err := tx.Delivery(id)
		if err != nil {
			return err
		}
		event, err := tx.Event(d.EventID)
		body = event.Body
		return err
	})
	return body
}

// A type that there is not, or without an example, is not sent, and the page says so.
func TestSendTestOfAType(t *testing.T) {
	w := newEnv(t)
	w.invoicePaid(`{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[0-9]{5}$"}}}`)
	w.endpoint("whe_1", "member.added")
	b := w.signedIn("usr_ada")
	b.get("/orgs/org_acme/endpoints/whe_1").wants(t, 200, "<option>webhook.test</option>", "<option>member.added</option>", "<option>invoice.paid</option>")
	b.post("/orgs/org_acme/endpoints/whe_1/test", url.Values{"type": {"no.such"}}).wants(t, 400, "is not an event type", "member.added")
	page := b.get("/orgs/org_acme/event-types/invoice.paid")
	page.wants(t, 200, "No example could be made")
	if strings.Contains(page.Body, "Send test<span") {
		t.Error("it offers to send it")
	}
	b.post("/orgs/org_acme/endpoints/whe_1/test", url.Values{"type": {"invoice.paid"}}).wants(t, 400, "has no example")
	w.Update(func(tx store.Tx) error { return store.DisableEndpoint(tx, "usr_ada", "org_acme", "whe_1") })
	b.post("/orgs/org_acme/endpoints/whe_1/test", url.Values{"type": {"member.added"}}).wants(t, 409, "is disabled")
}
