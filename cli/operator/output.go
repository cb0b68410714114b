package operator

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// output prints what people and scripts asked for. What strangers have a part
// in is printed so that a terminal takes none of it for a command.
type output struct {
	to    io.Writer
	width int // of the terminal; 0: it is none
}

func newOutput(cmd *cobra.Command, width func(io.Writer) int) output {
	to := cmd.OutOrStdout()
	return output{to: to, width: width(to)}
}

func (o output) line(text string) error {
	_, err := fmt.Fprintln(o.to, text)
	return err
}

// cutLine is line, cut to the width of a terminal.
func (o output) cutLine(text string) error {
	if o.width > 0 && utf8.RuneCountInString(text) > o.width {
		text = string([]rune(text)[:o.width-1]) + "…"
	}
	return o.line(text)
}

// json prints the API's JSON. On a terminal what can't stand there is escaped,
// which changes no value.
func (o output) json(body []byte) error { return o.text(string(bytes.TrimSpace(body))) }

// text prints a text of several lines as it is, but fit for a terminal.
func (o output) text(text string) error { return o.part(text + "\n") }

// part is text without a line break behind it.
func (o output) part(text string) error {
	if o.width > 0 {
		text = escape(text, "\n\t")
	}
	_, err := io.WriteString(o.to, text)
	return err
}

// lines prints a record as a name and a value a line.
func (o output) lines(r record) error {
	widest := 0
	for _, f := range r {
		widest = max(widest, len(f.name))
	}
	for _, f := range r {
		if _, err := fmt.Fprintf(o.to, "%-*s  %s\n", widest+1, f.name+":", orDash(f.text())); err != nil {
			return err
		}
	}
	return nil
}

// table prints rows in aligned columns, some at a time: a column grows, when a
// later row needs that.
type table struct {
	out    output
	titles []string
	widths []int
}

const gap = "  "

func (t *table) print(rows [][]string) error {
	if t.widths == nil {
		t.widths = make([]int, len(t.titles))
		rows = append([][]string{t.titles}, rows...)
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		if err := t.out.cutLine(t.aligned(row)); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) aligned(row []string) string {
	var b strings.Builder
	for i, cell := range row {
		b.WriteString(cell)
		if i+1 < len(row) {
			b.WriteString(strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell)) + gap)
		}
	}
	return b.String()
}

// plain makes a text fit to stand in one line on a terminal: control characters,
// and marks that turn the direction of writing around, are escaped as in JSON.
func plain(text string) string { return escape(text, "") }

func escape(text, except string) string {
	var b strings.Builder
	for _, r := range text { // a byte that is not UTF-8 is U+FFFD from here on
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(except, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// orDash makes what is empty visible, also to awk.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
