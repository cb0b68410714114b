package store

import (
	"encoding/json"
	"strings"
	"unicode"
)

// maxSaid is how many characters AnswerLine returns at most.
const maxSaid = 200

// AnswerLine returns what the body of an unsuccessful attempt's answer says, in one
// line of at most 200 characters: the message of a JSON object, or else the first
// line. Empty: it says nothing, or is a page for browsers.
func (a *Attempt) AnswerLine() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(a.Answer), ""))
	if said := messageOf(text); said != "" {
		text = said
	}
	if strings.HasPrefix(text, "<") {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return shorten(printable(line), maxSaid)
}

// Explain returns why the attempt failed, with what the answer says.
func (a *Attempt) Explain() string {
	if said := a.AnswerLine(); said != "" {
		return a.Reason + ": “" + said + "”"
	}
	return a.Reason
}

// messageOf returns the message of an error in JSON, in one of the usual forms.
func messageOf(text string) string {
	var body map[string]any
	if json.Unmarshal([]byte(text), &body) != nil {
		return ""
	}
	if inner, ok := body["error"].(map[string]any); ok {
		body = inner
	}
	for _, name := range []string{"message", "detail", "error", "title", "error_description"} {
		if said, ok := body[name].(string); ok && said != "" {
			return said
		}
	}
	return ""
}

// printable leaves out what is invisible or would change the direction of a text.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text))
}

// shorten cuts a text to at most n characters, the last of which then shows that it
// was cut.
func shorten(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
