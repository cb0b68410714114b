package receiver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"teamdata/internal/terminal"
)

// Text shows events to people: a line about each, then its body. Colour is for
// terminals.
func Text(out io.Writer, colour bool) func(Event) {
	return func(e Event) {
		fmt.Fprintf(out, "%s  %s  %s  %s\n%s\n", e.ReceivedAt.Format(time.TimeOnly),
			terminal.Plain(cmp.Or(e.Type, "-")), terminal.Plain(cmp.Or(e.ID, "-")), e.outcome(colour), pretty(e.Body))
	}
}

// InColour reports whether colours show: on a terminal, unless NO_COLOR is set.
func InColour(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && terminal.Is(file) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// colours are SGR parameters: bold green, yellow and red.
var colours = map[Verdict]string{Verified: "1;32", Unverified: "1;33", Refused: "1;31"}

// outcome describes the verdict and the answer, such as "verified, again, answered
// 500".
func (e Event) outcome(colour bool) string {
	text := string(e.Verdict)
	if colour {
		text = "\x1b[" + colours[e.Verdict] + "m" + text + "\x1b[0m"
	}
	if e.Again {
		text += ", again"
	}
	if e.Status != http.StatusNoContent {
		text += fmt.Sprintf(", answered %d", e.Status)
	}
	if e.Problem != "" {
		text += ": " + terminal.Plain(e.Problem)
	}
	return text
}

// JSONLines shows events to scripts: each is one line with a JSON object.
func JSONLines(out io.Writer) func(Event) {
	return func(e Event) {
		line, err := json.Marshal(struct {
			ReceivedAt time.Time `json:"receivedAt"`
			Verified   bool      `json:"verified"`
			ID         string    `json:"id"`
			Type       string    `json:"type"`
			Again      bool      `json:"again"`
			Status     int       `json:"status"`
			Problem    string    `json:"problem,omitempty"`
			Body       any       `json:"body"`
		}{e.ReceivedAt.UTC(), e.Verdict == Verified, e.ID, e.Type, e.Again, e.Status, e.Problem, e.json()})
		if err == nil {
			fmt.Fprintln(out, terminal.Plain(string(line)))
		}
	}
}

// json is the body as JSON, or as a JSON string if it is something else or too
// deep.
func (e Event) json() any {
	if json.Valid(e.Body) && depth(e.Body) <= maxDepth {
		return json.RawMessage(e.Body)
	}
	return string(e.Body)
}

const (
	// maxPretty is the longest body that is indented: nobody reads longer ones.
	maxPretty = 64 << 10

	// maxDepth is how deep an indented body may be nested. Indentation makes deeper
	// ones huge, and JSON parsers reject them.
	maxDepth = 100
)

// pretty formats a body for people: each line is indented by at least two spaces,
// so none looks like another event.
func pretty(body []byte) string {
	const margin = "  "
	var b bytes.Buffer
	if len(body) > maxPretty || depth(body) > maxDepth || json.Indent(&b, bytes.TrimSpace(body), margin, "  ") != nil {
		return margin + terminal.Plain(string(body))
	}
	return margin + terminal.Escape(b.String(), "\n") // line breaks are between values, never inside of one
}

// depth returns the nesting depth of a text's objects and lists, as far as it is
// JSON.
func depth(body []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(body))
	for now := 0; ; {
		switch token, err := d.Token(); {
		case err != nil:
			return deepest
		case token == json.Delim('{') || token == json.Delim('['):
			now++
			deepest = max(deepest, now)
		case token == json.Delim('}') || token == json.Delim(']'):
			now--
		}
	}
}
