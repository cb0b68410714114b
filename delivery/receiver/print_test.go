package receiver

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestText(t *testing.T) {
	for _, test := range []struct {
		event  Event
		colour bool
		want   string
	}{
		{Event{Verdict: Verified, ID: "whd_1", Type: "member.added", Status: 204, Body: []byte(`{"type":"member.added","data":[1,{}]}`)}, false,
			"12:00:00  member.added  whd_1  verified\n  {\n    \"type\": \"member.added\",\n    \"data\": [\n      1,\n      {}\n    ]\n  }\n"},
		{Event{Verdict: Verified, ID: "whd_1", Type: "a.b", Again: true, Status: 503, Body: []byte("1\n")}, true,
			"12:00:00  a.b  whd_1  \x1b[1;32mverified\x1b[0m, again, answered 503\n  1\n"},
		{Event{Verdict: Unverified, ID: "whd_1", Status: 502, Problem: "no\napp"}, true,
			"12:00:00  -  whd_1  \x1b[1;33mUNVERIFIED\x1b[0m, answered 502: no\\u000aapp\n  \n"},
		{Event{Verdict: Refused, Status: 400, Problem: "no", Body: []byte("a\nb")}, true,
			"12:00:00  -  -  \x1b[1;31mREFUSED\x1b[0m, answered 400: no\n  a\\u000ab\n"},
	} {
		test.event.ReceivedAt = noon
		var out bytes.Buffer
		Text(&out, test.colour)(test.event)
		if out.String() != test.want {
			t.Errorf("printed\n%q, not\n%q", out.String(), test.want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	for _, test := range []struct {
		event Event
		want  string
	}{
		{Event{Verdict: Verified, ID: "whd_1", Type: "a.b", Again: true, Status: 204, Body: []byte("{\"type\": \"a.b\",\n\"n\": 1.50}")},
			`{"receivedAt":"2026-11-21T12:00:00Z","verified":true,"id":"whd_1","type":"a.b","again":true,"status":204,"body":{"type":"a.b","n":1.50}}`},
		{Event{Verdict: Refused, Status: 400, Problem: "no", Body: []byte("a\n\x9b")},
			`{"receivedAt":"2026-11-21T12:00:00Z","verified":false,"id":"","type":"","again":false,"status":400,"problem":"no","body":"a\n\ufffd"}`},
		{Event{Verdict: Unverified, Status: 204},
			`{"receivedAt":"2026-11-21T12:00:00Z","verified":false,"id":"","type":"","again":false,"status":204,"body":""}`},
	} {
		test.event.ReceivedAt = noon.In(time.FixedZone("", 3600))
		var out bytes.Buffer
		JSONLines(&out)(test.event)
		if out.String() != test.want+"\n" {
			t.Errorf("printed\n%s, not\n%s", out.String(), test.want)
		}
	}
}

// Nothing that a stranger sends controls the terminal, or looks like another
// event.
func FuzzPrint(f *testing.F) {
	f.Add("whd_1", []byte(event), "")
	f.Add("\x1b]0;title\a", []byte("{\"type\":\"\\u001b[2J\\n12:00:00  a.b  whd_2  verified\"}"), "\r\n")
	f.Add("\u009b31m\x9b", []byte("\x1b[2J\r\n\u202e\x9b"), "\u2066")
	f.Add("", []byte("{\"\u009b\": \"\x7f\u202e\"}"), "")
	f.Add("", []byte(strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), "")
	f.Fuzz(func(t *testing.T, id string, body []byte, problem string) {
		e := Event{ReceivedAt: noon, Verdict: Refused, ID: id, Type: typeOf(body), Status: 400, Problem: problem, Body: body}
		var text, line bytes.Buffer
		Text(&text, false)(e)
		JSONLines(&line)(e)
		isTame(t, text.String())
		isTame(t, line.String())
		for i, line := range strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n") {
			if (i == 0) == strings.HasPrefix(line, "  ") {
				t.Fatalf("line %d is %q", i, line)
			}
		}
		if strings.Count(line.String(), "\n") != 1 {
			t.Fatalf("not one line: %q", line.String())
		}
		isSame(t, body, line.Bytes())
	})
}

func isTame(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Fatalf("%U at %d of %q", r, i, text)
		}
	}
	if strings.ToValidUTF8(text, "") != text {
		t.Fatalf("not UTF-8: %q", text)
	}
}

// isSame compares the body in a line of JSON with the body that was received.
func isSame(t *testing.T, body, line []byte) {
	t.Helper()
	var got struct{ Body json.RawMessage }
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	want := exact(body)
	if want == nil || depth(body) > maxDepth {
		want = strings.Map(func(r rune) rune { return r }, string(body)) // with U+FFFD for what is not UTF-8
	}
	if have := exact(got.Body); !reflect.DeepEqual(have, want) {
		t.Fatalf("the body is %#v, not %#v", have, want)
	}
}

// exact is the value of a JSON text, its numbers digit by digit; nil if it is
// null or no JSON.
func exact(text []byte) (value any) {
	if !json.Valid(text) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// A body that indentation would make huge is not indented.
func TestPrettyIsBounded(t *testing.T) {
	for name, body := range map[string]string{
		"deep":   strings.Repeat("[", 1000) + strings.Repeat("1,", 10000) + "1" + strings.Repeat("]", 1000),
		"hidden": strings.Repeat(`["]]]]]]",`, 1000) + "1" + strings.Repeat("]", 1000),
		"long":   `["` + strings.Repeat("a", maxPretty) + `"]`,
	} {
		if !json.Valid([]byte(body)) {
			t.Fatalf("%s: not JSON", name)
		}
		if got := pretty([]byte(body)); got != "  "+body {
			t.Errorf("%s: %d bytes became %d", name, len(body), len(got))
		}
	}
	if got := pretty([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))); strings.Count(got, "\n") != 2*maxDepth-2 {
		t.Errorf("the deepest that is indented became %s", got)
	}
}
