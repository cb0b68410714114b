package diagnose

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Difference is the first one between the body that was sent and the one of the case.
type Difference struct {
	Byte      int // where it is, from 1
	Sent, Got Excerpt
}

// Excerpt is what stands around a difference: Before is the same in both bodies. Blanks at
// the difference and line breaks anywhere are visible signs, and … stands for what is left out.
type Excerpt struct{ Before, At, After []byte }

// around is how many bytes an excerpt has before and after the difference.
const around = 32

// Difference finds the first one; nil: the bodies are the same, or it is not known what was
// sent.
func (c Case) Difference() *Difference {
	if c.Sent == nil || bytes.Equal(c.Sent, c.Body) {
		return nil
	}
	n := 0
	for n < min(len(c.Body), len(c.Sent)) && c.Body[n] == c.Sent[n] {
		n++
	}
	return &Difference{n + 1, excerpt(c.Sent, n), excerpt(c.Body, n)}
}

// CheckBody compares the body with the one that was sent; nil: it is not known what was sent.
func (c Case) CheckBody() *Check {
	d := c.Difference()
	switch {
	case c.Sent == nil:
		return nil
	case d == nil:
		return &Check{Name: "Body", OK: true, Text: fmt.Sprintf("%d bytes, the same that were sent.", len(c.Body))}
	}
	return &Check{Name: "Body", Text: fmt.Sprintf("%d bytes; %d were sent. They differ from byte %d on.", len(c.Body), len(c.Sent), d.Byte)}
}

var (
	lineBreaks = strings.NewReplacer("\n", "↵", "\r", "␍", "\t", "→")
	blanks     = strings.NewReplacer(" ", "·", "\n", "↵", "\r", "␍", "\t", "→")
)

func excerpt(body []byte, n int) Excerpt {
	for n > 0 && n < len(body) && !utf8.RuneStart(body[n]) { // a letter in one piece
		n--
	}
	_, size := utf8.DecodeRune(body[n:])
	from, to := max(0, n-around), min(len(body), n+size+around)
	for from > 0 && from < n && !utf8.RuneStart(body[from]) {
		from++
	}
	for to < len(body) && !utf8.RuneStart(body[to]) {
		to++
	}
	shown := func(signs *strings.Replacer, part []byte) []byte { return []byte(signs.Replace(string(part))) }
	e := Excerpt{shown(lineBreaks, body[from:n]), shown(blanks, body[n:n+size]), shown(lineBreaks, body[n+size:to])}
	if from > 0 {
		e.Before = append([]byte("…"), e.Before...)
	}
	if to < len(body) {
		e.After = append(e.After, "…"...)
	}
	return e
}
