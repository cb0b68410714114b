package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// TestExchanges plays the stories of testdata/exchanges, each against a server
// of its own on the fixture of fixture_test.go.
//
// A line of a story begins with what it is:
//
//	#  a comment: the rule of the contract that follows
//	!  something that happens besides the requests; see steps
//	>  a line of a request
//	<  a line of the answer: the status, then headers that it must have, then
//	   its body. "(absent)" is the value of a header that must not be there.
//	   The lines of a body belong together without their breaks and indents.
//
// {{whd}} stands for a delivery id, {{whd first}} for one that stays the same
// throughout the story, and {{300 bytes}} for that many letters. {{request}} is the
// id of a request, {{etag}} an entity tag, {{lse}} a lease, and {{signed}} a signature.
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob("../testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no exchanges: %v", err)
	}
	for _, file := range files {
		playFile(t, file, Config{KeyRate: DefaultKeyRate, PullRate: DefaultPullRate, ClientRate: DefaultClientRate})
	}
}

func playFile(t *testing.T, file string, c Config) {
	t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
		story := story{testEnv: newTestEnv(t, c), known: map[string]string{}}
		story.play(kit.ReadText(t, file))
	})
}

type story struct {
	*testEnv
	line    int
	request []string
	answer  []string
	known   map[string]string // values of named placeholders
}

func (s *story) play(text string) {
	for i, line := range strings.Split(text, "\n") {
		if len(s.answer) > 0 && !strings.HasPrefix(line, "<") {
			s.exchange()
		}
		s.line = i + 1
		switch kind, rest := cutKind(line); kind {
		case ">":
			s.request = append(s.request, rest)
		case "<":
			s.answer = append(s.answer, rest)
		case "!":
			step, ok := steps[rest]
			if !ok {
				s.Fatalf("line %d: nothing is known of %q", s.line, rest)
			}
			step(s.testEnv)
		case "#", "":
		default:
			s.Fatalf("line %d begins with none of # ! > <", s.line)
		}
	}
	if len(s.answer) > 0 {
		s.Fatalf("the story does not end with an empty line")
	}
}

func cutKind(line string) (kind, rest string) {
	if line == "" {
		return "", ""
	}
	return line[:1], strings.TrimPrefix(line[1:], " ")
}

// exchange makes the request that was gathered and holds the answer to what
// was gathered of it.
func (s *story) exchange() {
	s.Helper()
	head, body := parts(s.request)
	method, _, _ := strings.Cut(head[0], " ")
	raw := rawExchange(s.testEnv, method, rawRequest(s.recalled(head), s.recalled([]string{body})[0]))
	for _, complaint := range s.complaints(method, raw) {
		s.Errorf("line %d: %s\n%s\ngot\n%s", s.line, complaint, strings.Join(s.request, "\n"), raw.text)
	}
	s.request, s.answer = nil, nil
}

// recalled puts what named placeholders stand for into lines of a request.
func (s *story) recalled(lines []string) []string {
	recalled := slices.Clone(lines)
	for i := range recalled {
		for name, value := range s.known {
			recalled[i] = regexp.MustCompile(`\{\{\w+`+name+`\}\}`).ReplaceAllLiteralString(recalled[i], value)
		}
	}
	return recalled
}

// parts divides lines at the empty one into the head and the joined body.
func parts(lines []string) (head []string, body string) {
	for i, line := range lines {
		if line != "" {
			continue
		}
		for _, piece := range lines[i+1:] {
			body += strings.TrimLeft(piece, " ")
		}
		return lines[:i], body
	}
	return lines, ""
}

var manyBytes = regexp.MustCompile(`\{\{(\d+) bytes\}\}`)

func rawRequest(head []string, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s HTTP/1.1\r\nHost: api.example\r\n", head[0])
	for _, line := range head[1:] {
		b.WriteString(line + "\r\n")
	}
	body = expand(body)
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return expand(b.String()) + "\r\n" + body
}

func expand(text string) string {
	return manyBytes.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(manyBytes.FindStringSubmatch(m)[1])
		return strings.Repeat("x", n)
	})
}

// rawAnswer is an answer as it came over the wire.
type rawAnswer struct {
	text   string
	status string              // such as "200 OK"
	header map[string][]string // in the case that was sent
	body   string
}

// rawExchange sends a request on a connection of its own and reads the answer.
func rawExchange(env *testEnv, method, request string) rawAnswer {
	env.Helper()
	c, err := net.Dial("tcp", env.listen())
	kit.Must(env, err)
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	go io.WriteString(c, request) // it may be refused before all of it was read
	return readAnswer(env, method, bufio.NewReader(c))
}

func readAnswer(t testing.TB, method string, from *bufio.Reader) rawAnswer {
	t.Helper()
	a := rawAnswer{header: map[string][]string{}}
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("the answer broke off: %v\n%s", err, a.text)
		}
		a.text += line
		line = strings.TrimSuffix(line, "\r\n")
		if name, value, ok := strings.Cut(line, ": "); ok {
			a.header[name] = append(a.header[name], value)
		} else if line == "" {
			break
		} else {
			a.status = strings.TrimPrefix(line, "HTTP/1.1 ")
		}
	}
	if method == http.MethodHead || a.status == notModified {
		return a
	}
	n, err := strconv.Atoi(strings.Join(a.header["Content-Length"], ","))
	if err != nil {
		t.Fatalf("no single Content-Length:\n%s", a.text)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(from, body); err != nil {
		t.Fatal(err)
	}
	a.body, a.text = string(body), a.text+string(body)
	return a
}

const notModified = "304 Not Modified" // it has no body

// everyAnswer is what an answer carries whatever the story says of it; and the
// current API-Version, unless the story names another.
var everyAnswer = []string{
	"Content-Type: application/json",
	"Cache-Control: no-store",
	"X-Content-Type-Options: nosniff",
}

func (s *story) complaints(method string, got rawAnswer) (complaints []string) {
	head, body := parts(s.answer)
	if got.status != head[0] {
		complaints = append(complaints, fmt.Sprintf("want status %s", head[0]))
	}
	lines := append(head[1:], everyAnswer...)
	if head[0] == notModified {
		lines = append(head[1:], everyAnswer[1:]...)
	}
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "API-Version:") }) {
		lines = append(lines, "API-Version: 2026-10-06")
	}
	for _, line := range lines {
		name, want, _ := strings.Cut(line, ": ")
		have, present := got.header[name]
		if want == "(absent)" && present {
			complaints = append(complaints, "want no "+name)
		}
		if want != "(absent)" && (len(have) != 1 || !s.matches(have[0], want)) {
			complaints = append(complaints, "want "+line)
		}
	}
	if !s.matches(got.body, body) {
		complaints = append(complaints, "want body "+body)
	}
	return complaints
}

var placeholder = regexp.MustCompile(`\\{\\{(\w+)( \w+)?\\}\\}`)

var placeholderKinds = map[string]string{
	"whd":     `whd_[0-9A-HJKMNP-TV-Z]{26}`,
	"request": `[A-Z2-7]{26}`,
	"etag":    `"[A-Za-z0-9_-]{16}"`,
	"lse":     `lse_[0-9A-HJKMNP-TV-Z]{26}`,
	"signed":  `v1,[A-Za-z0-9+/]{43}=`,
}

// matches compares a text with one that holds placeholders, and remembers what
// the named ones stand for.
func (s *story) matches(text, want string) bool {
	var names []string
	pattern := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(want), func(m string) string {
		parts := placeholder.FindStringSubmatch(m)
		kind, ok := placeholderKinds[parts[1]]
		if !ok {
			s.Fatalf("line %d: no placeholder is called %s", s.line, parts[1])
		}
		names = append(names, parts[2])
		if value, ok := s.known[parts[2]]; ok && parts[2] != "" {
			return "(" + regexp.QuoteMeta(value) + ")"
		}
		return "(" + kind + ")"
	})
	found := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(text)
	for i, name := range names {
		if found != nil && name != "" {
			s.known[name] = found[1+i]
		}
	}
	return found != nil
}
