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
