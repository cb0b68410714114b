package contract_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/referee"
	"teamdata/wire/openapi"
)

// byEachJudge runs a test with the document and our own judge, and with the library.
func byEachJudge(t *testing.T, test func(t *testing.T, c *contract.Contract)) {
	document, _ := openapi.Of("2026-10-06")
	for name, read := range map[string]func([]byte) (*contract.Contract, error){
		"ours":        contract.Read,
		"the library": func(text []byte) (*contract.Contract, error) { return contract.ReadBy(referee.Compile, text) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read(document.JSON)
			if err != nil {
				t.Fatal(err)
			}
			test(t, c)
		})
	}
}

// good is an exchange without a fault.
func good() contract.Exchange {
	return contract.Exchange{
		Method: "GET", URL: &url.URL{Path: "/api/v1/members", RawQuery: "limit=2&after=1.a"},
		RequestHeader: http.Header{"Authorization": {"Bearer key_1.secret"}},
		Status:        200,
		Header: http.Header{
			"API-Version": {"2026-10-06"}, "X-Request-Id": {"r_1"}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
			"Content-Type": {"application/json"}, "RateLimit": {`"key";r=99;t=60`}, "RateLimit-Policy": {`"key";q=100;w=60`},
		},
		Body: []byte(`{"data":[{"id":"mem_1","userId":"usr_ada","role":"owner","createdAt":"2026-01-01T00:00:00.000Z"}],"next":"1.mem_1","hasMore":true}`),
	}
}

// failing is one that a code is answered to.
func failing(status int, code string) contract.Exchange {
	x := good()
	x.Status, x.Body = status, []byte(`{"error":{"code":"`+code+`","message":"m"}}`)
	return x
}

func TestFaults(t *testing.T) { byEachJudge(t, testFaults) }

func testFaults(t *testing.T, c *contract.Contract) {
	type exchange = *contract.Exchange
	replace := func(old, with string) func(exchange) {
		return func(x exchange) { x.Body = []byte(strings.Replace(string(x.Body), old, with, 1)) }
	}
	header := func(name string, values ...string) func(exchange) {
		return func(x exchange) { x.Header[name] = values }
	}
	for name, row := range map[string]struct {
		change func(exchange)
		want   string // in the only fault; empty: there is none
	}{
		"good":                     {func(exchange) {}, ""},
		"HEAD":                     {func(x exchange) { x.Method = "HEAD" }, ""},
		"another case of a header": {func(x exchange) { delete(x.Header, "API-Version"); x.Header["Api-Version"] = []string{"2026-10-06"} }, ""},
		"limit in many digits":     {func(x exchange) { x.URL.RawQuery = "limit=0007" }, ""},
		"null as next":             {replace(`"1.mem_1"`, "null"), ""},

		"unknown path":              {func(x exchange) { x.URL.Path = "/api/v1/none" }, "status 200: the document has no such operation"},
		"path elsewhere":            {func(x exchange) { x.URL.Path = "/members" }, "status 200: the document has no such operation"},
		"unknown method":            {func(x exchange) { x.Method = "PUT" }, "status 200: the document has no such operation"},
		"unknown status":            {func(x exchange) { x.Status = 201 }, "status 201 is not documented"},
		"header missing":            {func(x exchange) { delete(x.Header, "X-Request-Id") }, "the header X-Request-Id is missing"},
		"header twice":              {header("API-Version", "2026-10-06", "2026-10-06"), "the header API-Version is there more than once"},
		"header of another form":    {header("RateLimit", "99"), "the header RateLimit: "},
		"header with another value": {header("Cache-Control", "public"), "the header Cache-Control: "},
		"unknown header":            {header("X-New", "1"), "the header X-New is not documented"},
		"content type":              {header("Content-Type", "text/plain"), `the content type "text/plain" is not documented`},
		"no JSON":                   {func(x exchange) { x.Body = x.Body[1:] }, "the body is not JSON"},
		"field renamed":             {replace(`"role"`, `"rank"`), "additional properties 'rank' not allowed"},
		"field added":               {replace(`{"data"`, `{"total":1,"data"`), "additional properties 'total' not allowed"},
		"field of another type":     {replace(`"hasMore":true`, `"hasMore":"yes"`), "got string, want boolean"},
		"field missing":             {replace(`,"hasMore":true`, ``), "missing property 'hasMore'"},
		"next of another form":      {replace(`"1.mem_1"`, `"mem_1"`), "'mem_1' does not match pattern"},
		"time not in UTC":           {replace(`.000Z`, `+01:00`), "createdAt"},
		"no time":                   {replace(`2026-01-01T00`, `2026-01-01 00`), "createdAt"},
		"limit out of its bounds":   {func(x exchange) { x.URL.RawQuery = "limit=101" }, "the query parameter limit: "},
		"after of another form":     {func(x exchange) { x.URL.RawQuery = "after=a" }, "the query parameter after: "},
		"parameter twice":           {func(x exchange) { x.URL.RawQuery = "limit=1&limit=1" }, "the query parameter limit is there more than once"},
		"no key":                    {func(x exchange) { delete(x.RequestHeader, "Authorization") }, "it was answered without a key"},
	} {
		x := good()
		x.Header, x.RequestHeader = maps.Clone(x.Header), maps.Clone(x.RequestHeader)
		row.change(&x)
		holds(t, name, c.Faults(x), row.want)
	}
}

func TestFaultsOfErrors(t *testing.T) { byEachJudge(t, testFaultsOfErrors) }

func testFaultsOfErrors(t *testing.T, c *contract.Contract) {
	x := failing(403, "forbidden")
	holds(t, "known code", c.Faults(x), "")
	holds(t, "another code", c.Faults(failing(403, "notAllowed")), `the code "notAllowed" is not in the examples of the answer`)
	holds(t, "code of another status", c.Faults(failing(403, "badRequest")), `the code "badRequest" is not in the examples of the answer`)
	holds(t, "wait that is missing", c.Faults(failing(429, "rateLimited")), "the header Retry-After is missing")
	x = failing(404, "notFound")
	holds(t, "status of another operation", c.Faults(x), "status 404 is not documented")
	x.URL = &url.URL{Path: "/none"}
	holds(t, "path that there is not", c.Faults(x), "")
	x = failing(400, "badRequest")
	x.URL.RawQuery, x.RequestHeader = "limit=0", http.Header{}
	holds(t, "request that is refused", c.Faults(x), "")
}

func TestWebhookFaults(t *testing.T) { byEachJudge(t, testWebhookFaults) }

func testWebhookFaults(t *testing.T, c *contract.Contract) {
	h := http.Header{"Webhook-Id": {"whd_01K60865992206906030338374"}, "Webhook-Timestamp": {"1791288000"},
		"Webhook-Signature": {"v1,B8qvxOb4QOb6rKLK24I330thuE71ZvWrxSFSEM9/g/4="}}
	const body = `{"type":"webhook.test","timestamp":"2026-10-06T12:00:00.000Z","data":{"orgId":"o","endpointId":"e"}}`
	for name, row := range map[string]struct{ header, value, old, with, want string }{
		"good":              {},
		"two signatures":    {"Webhook-Signature", h.Get("Webhook-Signature") + " " + h.Get("Webhook-Signature"), "", "", ""},
		"no id":             {"Webhook-Id", "", "", "", "the header parameter webhook-id: "},
		"another signature": {"Webhook-Signature", "v2,x", "", "", "the header parameter webhook-signature: "},
		"unknown event":     {"", "", "webhook.test", "webhook.tested", `the document has no event "webhook.tested"`},
		"field missing":     {"", "", `,"endpointId":"e"`, "", "missing property 'endpointId'"},
		"field added":       {"", "", `"orgId"`, `"more":1,"orgId"`, "additional properties 'more' not allowed"},
		"local time":        {"", "", `.000Z`, `+02:00`, "timestamp"},
		"no JSON":           {"", "", `{`, ``, "the body of a webhook is not JSON"},
	} {
		have := maps.Clone(h)
		if row.header != "" {
			have.Set(row.header, row.value)
		}
		holds(t, name, c.WebhookFaults(have, []byte(strings.Replace(body, row.old, row.with, 1))), row.want)
	}
	open := strings.NewReplacer("webhook.test", "assistant.instructionsChanged", "endpointId", "more").Replace(body)
	holds(t, "object that stays open", c.WebhookFaults(h, []byte(open)), "")
}

func holds(t *testing.T, name string, faults []string, want string) {
	t.Helper()
	if want == "" && len(faults) == 0 {
		return
	}
	if want == "" || len(faults) != 1 || !strings.Contains(faults[0], want) {
		t.Errorf("%s: got %q, want %q", name, faults, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, document := range []string{"", "{", "{}", `{"info":{"version":"1"}}`, `{"servers":[{"url":"/"}]}`} {
		if _, err := contract.Read([]byte(document)); err == nil {
			t.Errorf("%s is a document", document)
		}
	}
}
