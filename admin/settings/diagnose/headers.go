package diagnose

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// headers are the values by their names in lower case.
type headers map[string][]string

// plainHeader is a line of a request, or of what curl -v prints. What is quoted or in
// brackets was printed by a program.
var plainHeader = regexp.MustCompile(`(?is)^[ \t]*[<>]?[ \t]*(webhook-(?:id|timestamp|signature))[ \t]*:[ \t]*([^\["'\s].*)?$`)

// readHeaders finds the headers that sign a request in what a person pasted: its lines, or
// what a program printed of them.
func readHeaders(text string) headers {
	h := headers{}
	var rest strings.Builder
	for line := range strings.Lines(text) {
		switch m := plainHeader.FindStringSubmatch(strings.TrimRight(line, " \t\r\n")); {
		case strings.HasPrefix(line, "* "): // what curl says of itself repeats headers
		case m != nil:
			h[strings.ToLower(m[1])] = append(h[strings.ToLower(m[1])], m[2])
		default:
			rest.WriteString(line)
		}
	}
	h.readPrinted(rest.String())
	return h
}

// printedHeader is a header as programs print it: a name, quoted or not, maybe as CGI spells
// it, signs between, and the value, of which a line's end is the end unless it is quoted.
var printedHeader = regexp.MustCompile(`(?i)` +
	`((?:^|[^\w-])["']?)(?:http_)?webhook[-_](id|timestamp|signature)(["'\])]*)` +
	`[ \t]*(?:=>|[:=,])?\s*(?:["']value["']\s*:\s*)?((?:\[\]string\{|string\(\d+\)|[\[({])*)\s*` +
	`(b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\]|\\.)*'|[^\n]*)`)

// maxPrinted is how many values of a header are told apart. More are as wrong as that many.
const maxPrinted = 20

// readPrinted finds headers in the way of curl -H, Node, Python, PHP, Go, CGI and JSON. The
// same value printed twice is one.
func (h headers) readPrinted(text string) {
	for m := printedHeader.FindStringSubmatchIndex(text); m != nil; m = printedHeader.FindStringSubmatchIndex(text) {
		part := func(i int) string { return text[m[2*i]:m[2*i+1]] }
		before, name, behind, open, value := part(1), "webhook-"+strings.ToLower(part(2)), part(3), part(4), part(5)
		end := m[1]
		if quoted := strings.TrimPrefix(value, "b"); len(quoted) > 1 && strings.ContainsAny(quoted[:1], `"'`) && quoted[0] == quoted[len(quoted)-1] {
			value = unquoted(quoted)
		} else {
			ends := ""
			if behind == "" && before != "" { // one pair of quotes around name and value
				ends = strings.Trim(before[len(before)-1:], " \t\n(,{[")
			}
			if strings.Contains(open, "[") {
				ends += "]"
			}
			if i := strings.IndexAny(value, ends); i >= 0 {
				value, end = value[:i], m[10]+i
			}
			value = strings.TrimSpace(value)
		}
		if len(h[name]) < maxPrinted && !slices.Contains(h[name], value) {
			h[name] = append(h[name], value)
		}
		text = text[end:]
	}
}

// unquoted is a quoted text without its quotes and escapes.
func unquoted(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		return s
	}
	return strings.ReplaceAll(text[1:len(text)-1], `\`+text[:1], text[:1])
}

// WebhookID is the webhook-id of pasted headers; empty when they have none.
func WebhookID(headers string) string { return readHeaders(headers).value("webhook-id") }

func (h headers) value(name string) string {
	if len(h[name]) == 0 {
		return ""
	}
	return h[name][0]
}

// check checks that a header is present once and has a valid value.
func (h headers) check(name string, form func(value string) (text string, ok bool)) Check {
	switch values := h[name]; {
	case len(values) == 0:
		return Check{Name: name, Text: "The header is missing. A proxy may have dropped it, or its name is misspelled."}
	case len(values) > 1:
		return Check{Name: name, Text: fmt.Sprintf("The header appears %d times; it must appear once.", len(values))}
	case values[0] == "":
		return Check{Name: name, Text: "The header is empty."}
	}
	text, ok := form(h[name][0])
	return Check{Name: name, OK: ok, Text: text}
}

const (
	digits    = "0123456789"
	idBytes   = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
	maxID     = 64
	crockford = digits + "ABCDEFGHJKMNPQRSTVWXYZ" // of our ids
	ourLength = 26
)

// consistsOf reports whether a text has those bytes only.
func consistsOf(text, bytes string) bool { return strings.Trim(text, bytes) == "" }

func isOurs(id string) bool {
	text, ok := strings.CutPrefix(id, "whd_")
	return ok && len(text) == ourLength && consistsOf(text, crockford)
}

func checkID(id string) (string, bool) {
	switch {
	case strings.Contains(id, "."):
		return "The id contains a period, which no id from here does: periods separate the parts that are signed.", false
	case len(id) > maxID || !consistsOf(id, idBytes):
		return "The id contains a character other than A-Z a-z 0-9 _ and -, or is longer than 64 characters.", false
	case !isOurs(id):
		return "The form is allowed, but ids from here are whd_ and 26 letters and digits.", true
	}
	return "The id has the right form.", true
}

// maxSeconds is how many digits a timestamp has at most. One with more is in
// milliseconds, or finer.
const maxSeconds = 12

// isNumber reports whether a text is a positive number that all libraries read alike.
func isNumber(text string) bool {
	return text != "" && text[0] != '0' && consistsOf(text, digits)
}

func isSeconds(text string) bool { return isNumber(text) && len(text) <= maxSeconds }

// seconds is the number of a text that isSeconds.
func seconds(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func (c Case) checkTimestamp(text string) (string, bool) {
	switch {
	case isNumber(text) && len(text) > maxSeconds:
		return "The timestamp is in milliseconds, or finer. It must be in seconds since 1970.", false
	case !isSeconds(text):
		return "The timestamp is not a number of seconds since 1970, in digits.", false
	}
	age := c.ReceivedAt.Sub(time.Unix(seconds(text), 0))
	switch {
	case age > Tolerance:
		return fmt.Sprintf("The timestamp is too old: %s before the time of receipt, and 5 minutes are allowed. Was the request stored, or sent again by hand, or is the receiver's clock wrong?", formatSpan(age.Abs())), false
	case age < -Tolerance:
		return fmt.Sprintf("The timestamp is too new: %s after the time of receipt, and 5 minutes are allowed. Is the receiver's clock wrong?", formatSpan(age.Abs())), false
	case age < 0:
		return formatSpan(age.Abs()) + " after the time of receipt; 5 minutes are allowed.", true
	}
	return formatSpan(age.Abs()) + " before the time of receipt; 5 minutes are allowed.", true
}

// formatSpan is a time span in its two largest units.
func formatSpan(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
	}
	return fmt.Sprintf("%d days %d h", s/(24*3600), s/3600%24)
}
