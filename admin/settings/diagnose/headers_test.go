package diagnose

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

func TestHeaders(t *testing.T) {
	fits := sign(t, secret, id, noon, sent)
	sum, err := base64.StdEncoding.DecodeString(fits[3:])
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ headers, check, text string }{
		"nothing":           {"", "webhook-id", "missing"},
		"no id":             {strings.Replace(lines(id, unix(noon), fits), "Webhook-Id", "X-Id", 1), "webhook-id", "missing"},
		"id twice":          {lines(id, unix(noon), fits) + "webhook-id: " + id, "webhook-id", "2 times"},
		"empty id":          {lines("", unix(noon), fits), "webhook-id", "empty"},
		"period in the id":  {lines("a.b", unix(noon), fits), "webhook-id", "period"},
		"other in the id":   {lines("a b", unix(noon), fits), "webhook-id", "or is longer than 64"},
		"no timestamp":      {lines(id, "", fits), "webhook-timestamp", "empty"},
		"milliseconds":      {lines(id, unix(noon)+"000", fits), "webhook-timestamp", "milliseconds"},
		"a date":            {lines(id, "2026-10-06T12:00:00Z", fits), "webhook-timestamp", "not a number"},
		"with a sign":       {lines(id, "+"+unix(noon), fits), "webhook-timestamp", "not a number"},
		"with a zero":       {lines(id, "0"+unix(noon), fits), "webhook-timestamp", "not a number"},
		"too old":           {lines(id, unix(noon.Add(-time.Hour)), sign(t, secret, id, noon.Add(-time.Hour), sent)), "webhook-timestamp", "too old: 1 h 0 min"},
		"a bit too old":     {lines(id, unix(noon.Add(-Tolerance)), sign(t, secret, id, noon.Add(-Tolerance), sent)), "webhook-timestamp", "too old: 5 min 2 s"},
		"too new":           {lines(id, unix(noon.Add(49*time.Hour)), sign(t, secret, id, noon.Add(49*time.Hour), sent)), "webhook-timestamp", "too new: 2 days 0 h"},
		"signature twice":   {lines(id, unix(noon), fits) + "webhook-signature: " + fits, "webhook-signature", "2 times"},
		"no v1":             {lines(id, unix(noon), fits[3:]), "webhook-signature", "does not begin with"},
		"v1=":               {lines(id, unix(noon), "v1="+fits[3:]), "webhook-signature", "does not begin with"},
		"asymmetric":        {lines(id, unix(noon), "v1a,"+fits[3:]), "webhook-signature", "asymmetric"},
		"a space":           {lines(id, unix(noon), "v1, "+fits[3:]), "webhook-signature", "a space after"},
		"commas between":    {lines(id, unix(noon), fits+","+fits), "webhook-signature", "separated by one space"},
		"semicolon between": {lines(id, unix(noon), fits+";"+fits), "webhook-signature", "separated by one space"},
		"hex":               {lines(id, unix(noon), "v1,"+hex.EncodeToString(sum)), "webhook-signature", "in hex"},
		"URL's base64":      {lines(id, unix(noon), "v1,"+strings.Repeat("-_8A", 11)), "webhook-signature", "URL-safe base64"},
		"no padding":        {lines(id, unix(noon), strings.TrimRight(fits, "=")), "webhook-signature", "is missing the ="},
		"cut":               {lines(id, unix(noon), fits[:25]), "webhook-signature", "not in standard, padded base64"},
		"cut in four":       {lines(id, unix(noon), fits[:27]), "webhook-signature", "decodes to 18 bytes"},
		"no base64":         {lines(id, unix(noon), "v1,ätsch"), "webhook-signature", "not in standard, padded base64"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			c.Headers = test.headers
			r := c.Diagnose()
			for _, check := range r.Checks {
				if check.Name == test.check && (check.OK || !strings.Contains(check.Text, test.text)) {
					t.Errorf("%s: %s", check.Name, check.Text)
				}
			}
			if r.Verifies {
				t.Error("it verifies")
			}
		})
	}
}

// Headers are read as people find them: as they came, or as a program printed them.
func TestPrintedHeaders(t *testing.T) {
	at, one := unix(noon), sign(t, secret, id, noon, sent)
	two := sign(t, other, id, noon, sent) + " " + one
	for name, text := range map[string]string{
		"curl -v":            "* [HTTP/2] [1] [webhook-id: <ID>]\n> POST /hook HTTP/2\n> webhook-id: <ID>\r\n> webhook-timestamp: <AT>\n> webhook-signature: <SIG>\n>\n",
		"curl -H":            "curl -H 'content-type: application/json' -H 'webhook-id: <ID>' \\\n  -H \"webhook-timestamp: <AT>\" -H'webhook-signature: <SIG>' https://x.example",
		"Node's headers":     "{\n  host: 'x.example',\n  'webhook-id': '<ID>',\n  'webhook-timestamp': '<AT>',\n  'webhook-signature': '<SIG>'\n}",
		"Node's rawHeaders":  "[ 'Host', 'x.example', 'Webhook-Id',\n  '<ID>',\n  'Webhook-Timestamp', '<AT>', 'Webhook-Signature',\n  '<SIG>' ]",
		"a dict of Python":   "{'Host': 'x.example', 'Webhook-Id': '<ID>', 'Webhook-Timestamp': '<AT>', 'Webhook-Signature': '<SIG>'}",
		"pairs of Python":    "EnvironHeaders([('Webhook-Id', '<ID>'), ('Webhook-Timestamp', '<AT>'), ('Webhook-Signature', '<SIG>')])",
		"bytes of Python":    "[(b'webhook-id', b'<ID>'), (b'webhook-timestamp', b'<AT>'), (b'webhook-signature', b'<SIG>')]",
		"print_r of PHP":     "Array\n(\n    [Host] => x.example\n    [Webhook-Id] => <ID>\n    [Webhook-Timestamp] => <AT>\n    [Webhook-Signature] => <SIG>\n)\n",
		"var_dump of PHP":    "array(3) {\n  [\"Webhook-Id\"]=>\n  string(30) \"<ID>\"\n  [\"Webhook-Timestamp\"]=>\n  string(10) \"<AT>\"\n  [\"Webhook-Signature\"]=>\n  string(47) \"<SIG>\"\n}",
		"$_SERVER of PHP":    "    [HTTP_WEBHOOK_ID] => <ID>\n    [HTTP_WEBHOOK_TIMESTAMP] => <AT>\n    [HTTP_WEBHOOK_SIGNATURE] => <SIG>\n",
		"json_encode of PHP": `{"Webhook-Id":"<ID>","Webhook-Timestamp":"<AT>","Webhook-Signature":"<ESC>"}`,
		"%v of Go":           "map[Content-Length:[123] Webhook-Id:[<ID>] Webhook-Signature:[<SIG>] Webhook-Timestamp:[<AT>]]",
		"%#v of Go":          `http.Header{"Webhook-Id":[]string{"<ID>"}, "Webhook-Signature":[]string{"<SIG>"}, "Webhook-Timestamp":[]string{"<AT>"}}`,
		"Println of Go":      "Webhook-Id [<ID>]\nWebhook-Timestamp : [<AT>]\nWebhook-Signature: [<SIG>]\n",
		"CGI":                "GATEWAY_INTERFACE=CGI/1.1\nHTTP_WEBHOOK_ID=<ID>\nHTTP_WEBHOOK_SIGNATURE=<SIG>\nHTTP_WEBHOOK_TIMESTAMP=<AT>\n",
		"a hash of Ruby":     `{"HTTP_WEBHOOK_ID"=>"<ID>", "HTTP_WEBHOOK_TIMESTAMP"=>"<AT>", "HTTP_WEBHOOK_SIGNATURE"=>"<SIG>"}`,
		"JSON":               "{\n  \"webhook-id\": \"<ID>\",\n  \"webhook-timestamp\": \"<AT>\",\n  \"webhook-signature\": \"<SIG>\"\n}",
		"JSON, lists":        `{"webhook-id":["<ID>"],"webhook-timestamp":["<AT>"],"webhook-signature":["<SIG>"]}`,
		"HAR":                `[{"name":"webhook-id","value":"<ID>"},{"name":"webhook-timestamp","value":"<AT>"},{"name":"webhook-signature","value":"<SIG>"}]`,
		"printed twice":      "{ headers: {'webhook-id': '<ID>', 'webhook-timestamp': '<AT>', 'webhook-signature': '<SIG>'}, rawHeaders: ['webhook-id', '<ID>', 'webhook-timestamp', '<AT>', 'webhook-signature', '<SIG>'] }",
	} {
		c := good(t)
		c.Headers = strings.NewReplacer("<ID>", id, "<AT>", at, "<SIG>", two, "<ESC>", strings.ReplaceAll(two, "/", `\/`)).Replace(text)
		if r := c.Diagnose(); !r.Verifies || WebhookID(c.Headers) != id {
			t.Errorf("%s: %+v, from\n%s", name, r.Checks, c.Headers)
		}
	}
	for text, want := range map[string]string{
		`{"webhook-id": ""}`: "", "X-Webhook-Id: a": "", "'x-webhook-id': 'a'": "", "HTTP_X_WEBHOOK_ID=a": "", "'webhook-id": "", `{"webhook-id": "a`: `"a`, "[webhook-id": "",
	} {
		if got := WebhookID(text); got != want {
			t.Errorf("of %s the id is %q", text, got)
		}
	}
}
