package proxy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
	"teamdata/e2e/kit/program"
)

// nginx as a receiver that asks for a certificate and a header takes what has the right ones,
// and answers 400 or 403 to the rest. What is secret of these is in no answer, log, metric
// or export without secrets.
func TestOptionsAtNginx(t *testing.T) {
	const value = "hidden-5c1f"
	ours, others := issuer.New(t, "ours"), issuer.New(t, "others")
	soon := time.Now().Add(time.Hour)
	certificate, key := ours.Issue(t, "receiver", soon)
	folder := t.TempDir()
	for name, text := range map[string]string{"server.pem": certificate, "server.key": key, "ca.pem": ours.PEM} {
		kit.WriteFile(t, filepath.Join(folder, name), text)
	}
	front := nginx(t, inNginx(strings.ReplaceAll(`server {
		listen FRONT ssl; server_name localhost;
		ssl_certificate FOLDER/server.pem; ssl_certificate_key FOLDER/server.key;
		ssl_client_certificate FOLDER/ca.pem; ssl_verify_client on;
		if ($http_x_api_key != "`+value+`") { return 403; }
		location / { return 204; }
	}`, "FOLDER", folder)))
	_, port, err := net.SplitHostPort(front)
	kit.Must(t, err)

	right, rightKey := ours.Issue(t, "acme", soon)
	wrong, wrongKey := others.Issue(t, "acme", soon)
	ended, endedKey := ours.Issue(t, "acme", time.Now().Add(-time.Hour))
	var hooks []map[string]any
	wants := map[string]int{}
	for _, hook := range []struct {
		id, certificate, key, header string
		want                         int
	}{
		{"whe_right", right, rightKey, value, 204}, {"whe_header", right, rightKey, value + "x", 403},
		{"whe_wrong", wrong, wrongKey, value, 400}, {"whe_none", "", "", value, 400}, {"whe_ended", ended, endedKey, value, 400},
	} {
		hooks = append(hooks, map[string]any{
			"id": hook.id, "url": "https://localhost:" + port + "/", "events": []string{"webhook.test"}, "ca": ours.PEM,
			"clientCertificate": hook.certificate, "clientKey": hook.key, "headers": map[string]string{"X-Api-Key": hook.header},
		})
		wants[hook.id] = hook.want
	}
	seed, err := json.Marshal(map[string]any{"orgs": []any{map[string]any{"id": "org_acme", "name": "Acme", "webhooks": hooks,
		"members": []any{map[string]any{"userId": "usr_ada", "role": "owner"}}}}})
	kit.Must(t, err)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", kit.NewFile(t, "seed.json", string(seed)), "--allow-endpoint-cidr", "127.0.0.0/8,::1",
		"--metrics", "127.0.0.1:0")
	operator := program.NewOperator(t, data)
	var said strings.Builder
	ask := func(method, path, body string) (answer string) {
		t.Helper()
		status, answer, err := operator.Do(method, "/orgs/org_acme"+path, body)
		kit.Must(t, err)
		if status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
		said.WriteString(answer)
		return answer
	}
	for id, want := range wants {
		ask("POST", "/endpoints/"+id+"/test", "{}")
		p.Await("an attempt at "+id, func() bool {
			return strings.Contains(ask("GET", "/deliveries?endpoint="+id, ""), fmt.Sprintf(`"lastStatus":%d,`, want))
		})
	}
	ask("GET", "/endpoints", "")
	ask("GET", "/audit-log", "")
	export := program.MustRun(t, "export", "--data", data)
	doctor, _ := program.Run(t, "doctor", "--data", data)
	for where, text := range map[string]string{
		"answers": said.String(), "export": export, "doctor": doctor, "metrics": kit.Get(t, p.Client, p.MetricsURL()).Body,
		"command": program.MustRun(t, "endpoint", "show", "whe_right", "--data", data),
	} {
		if strings.Contains(text, value) || strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("a secret is in the %s:\n%s", where, text)
		}
	}
	p.StopWell()
	if log := fmt.Sprint(p.Out); strings.Contains(log, value) || strings.Contains(log, "PRIVATE KEY") {
		t.Errorf("a secret is in the log:\n%s", log)
	}
}
