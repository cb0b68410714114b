package diagnose

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestBody(t *testing.T) {
	for name, test := range map[string]struct{ body, text string }{
		"a line end":           {sent + "\n", "line break that was not sent"},
		"CRLF":                 {sent + "\r\n", "line break that was not sent"},
		"spaces around":        {"  " + sent + "\n", "around it"},
		"a byte order mark":    {bom + sent, "byte order mark"},
		"a NUL":                {sent + "\x00", "NUL"},
		"pretty":               {strings.NewReplacer(`{"`, "{\n  \"", `":`, `": `, `,"`, ",\n  \"", "}", "\n}").Replace(sent), "with spaces"},
		"spaces like Python's": {strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(sent), "with spaces"},
		"escapes like Go's":    {strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(sent), "with other escapes"},
		"escapes like PHP's":   {strings.ReplaceAll(sent, "ü", `\u00fc`), "with other escapes"},
		"escaped for HTML":     {strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(sent), "escaped for HTML"},
		"encoded twice":        {strconv.Quote(sent), "encoded as JSON twice"},
		"Latin-1":              {strings.ReplaceAll(sent, "ü", "Ã¼"), "Latin-1"},
		"another":              {strings.ReplaceAll(sent, "48213", "48214"), "No signature matches. Either the secret"},
		"nothing":              {"", "No signature matches. Either the secret"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			c.Body = []byte(test.body)
			if f := failing(t, c.Diagnose()); f.Name != "match" || !strings.Contains(f.Text, test.text) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestLineEnds(t *testing.T) {
	c := good(t)
	c.Body, c.Headers = []byte("a\nb"), lines(id, unix(noon), sign(t, secret, id, noon, "a\r\nb"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "were CRLF and are now LF") {
		t.Errorf("got %+v", f)
	}
	c.Body, c.Headers = []byte("a\r\nb"), lines(id, unix(noon), sign(t, secret, id, noon, "a\nb"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "were LF and are now CRLF") {
		t.Errorf("got %+v", f)
	}
	c.Body, c.Headers = []byte("a"), lines(id, unix(noon), sign(t, secret, id, noon, "a\n"))
	if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, "is missing the line break") {
		t.Errorf("got %+v", f)
	}
}

func TestSent(t *testing.T) {
	wrong := lines(id, unix(noon), sign(t, secret, id, noon.Add(time.Second), sent))
	for name, test := range map[string]struct{ headers, body, text string }{
		"changed":           {"", strings.ReplaceAll(sent, "48213", "48214"), "is not the one that was sent. They differ from byte "},
		"parsed, reordered": {"", `{"timestamp":"2026-10-06T12:00:00.000Z","data":{"size":48213,"name":"plan für <2027> & more.pdf"},"type":"file.uploaded"}`, "in another order"},
		"a line end":        {"", sent + "\n", "line break that was not sent"},
		"other timestamp":   {wrong, sent, "the webhook-timestamp or the signature is from another request"},
		"both":              {wrong, sent + "x", "No signature matches, and the body is not the one that was sent"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good(t)
			if c.Sent, c.Body = []byte(sent), []byte(test.body); test.headers != "" {
				c.Headers = test.headers
			}
			if f := failing(t, c.Diagnose()); !strings.Contains(f.Text, test.text) {
				t.Errorf("got %+v", f)
			}
		})
	}
}
