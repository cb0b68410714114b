package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// It never says that a request verifies unless the reference library says so, and
// shows nothing of a secret.
func FuzzDiagnose(f *testing.F) {
	c := good(f)
	f.Add(c.Headers, c.Body, c.ReceivedAt.Unix(), []byte(nil))
	f.Add(c.Headers, []byte(sent+"\n"), c.ReceivedAt.Unix(), []byte(sent))
	f.Add(c.Headers, []byte(`"\ud83d\ude00\u00`), c.ReceivedAt.Unix(), []byte(sent))
	f.Add(lines("a.b", "1", "v1,"), []byte{0xff}, int64(1), []byte{})
	f.Add(lines(id, unix(noon), "v1,a, b;c"), []byte(`\`), int64(-1), []byte(`{}`))
	f.Fuzz(func(t *testing.T, headers string, body []byte, received int64, was []byte) {
		c := good(t)
		c.Headers, c.Body, c.Sent, c.ReceivedAt = headers, body, was, time.Unix(received, 0)
		r := c.Diagnose()
		if r.Verifies && !accepted(c) {
			t.Fatalf("it verifies, and the library says no: %+v", r)
		}
		if text := fmt.Sprint(r); strings.Contains(text, secret[6:20]) || strings.Contains(text, old[6:20]) || strings.ContainsAny(text, "\r\n") {
			t.Fatalf("it shows a secret, or has more than one line: %q", text)
		}
	})
}
