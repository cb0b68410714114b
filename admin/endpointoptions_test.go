package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"teamdata/store/storetest"
)

// options of an endpoint go in and out, but for its secrets, which go out nowhere but where
// they are asked for.
func TestOptionsOfEndpoint(t *testing.T) {
	env := newTestEnv(t)
	const path, hidden = "/orgs/org_acme/endpoints/whe_1", "hidden-5c1f"
	text := func(s string) string {
		quoted, _ := json.Marshal(s)
		return string(quoted)
	}
	certificate := text(storetest.ClientCertificate)
	with := func(options string) string { return strings.TrimSuffix(whe1, "}") + options + "}" }
	shown := `,"clientCertificate":` + certificate + `,"clientCertificateExpiresAt":"2100-10-31T04:58:16.000Z","ca":` + certificate
	for _, step := range []struct{ change, options string }{
		{`{"headers":{"X-Key":"` + hidden + `","B":"` + hidden + `2"},"clientCertificate":` + certificate + `,"clientKey":` + text(storetest.ClientKey) + `,"ca":` + certificate + `}`,
			`,"headerNames":["B","X-Key"]` + shown},
		{`{"headers":{"b":null},"rate":"10/s"}`, `,"headerNames":["X-Key"],"rate":"10/s"` + shown},
		{`{"headers":{},"maxInFlight":1,"rate":null,"ca":null}`, `,"headerNames":["X-Key"],"maxInFlight":1` + strings.TrimSuffix(shown, `,"ca":`+certificate)},
	} {
		env.wantAnswer(env.do("PATCH", path, step.change), 200, with(step.options))
		env.wantAnswer(env.do("GET", path, ""), 200, with(step.options))
		env.wantAnswer(env.do("GET", path[:strings.LastIndex(path, "/")], ""), 200, `{"data":[`+with(step.options)+`],"next":"0.whe_1","hasMore":false}`)
	}
	for _, refused := range []string{`"clientKey":""`, `"clientKey":` + text(strings.Replace(storetest.ClientKey, "M", "N", 1)), `"headers":{"A":" ` + hidden + `"}`, `"headers":{"Host":"` + hidden + `"}`} {
		if a := env.do("PATCH", path, "{"+refused+"}"); a.Status != 400 || strings.Contains(a.Body, hidden) || strings.Contains(a.Body, "PRIVATE") {
			t.Errorf("%s: %d %s", refused, a.Status, a.Body)
		}
	}
	if all := env.everything() + env.LogOutput.String(); strings.Contains(all, hidden) || strings.Contains(all, "PRIVATE") {
		t.Errorf("a secret is shown in\n%s", all)
	}
	env.wantAnswer(env.do("GET", path+"/headers", ""), 200, `{"headers":{"X-Key":"`+hidden+`"}}`)
	env.wantAnswer(env.do("PATCH", path, `{"headers":null,"clientCertificate":null,"maxInFlight":null}`), 200, whe1)
}
