package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Table prints rows in aligned columns, some at a time: a column grows when a later
// row needs that. On a terminal a column is left out that has no room for any of its text.
type Table struct {
	To     io.Writer
	Width  int      // where a line is cut; 0: nowhere. See [Width]
	Titles []string // the first row; may be left out
	Right  []int    // the columns that are aligned on the right
	widths []int
}

// Print prints more rows.
func (t *Table) Print(rows ...[]string) error {
	if t.widths == nil && t.Titles != nil {
		rows = append([][]string{t.Titles}, rows...)
	}
	for _, row := range rows {
		t.widths = append(t.widths, make([]int, max(0, len(row)-len(t.widths)))...)
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], runewidth.StringWidth(cell))
		}
	}
	for _, row := range rows {
		line := t.align(row)
		if t.Width > 0 {
			line = runewidth.Truncate(line, t.Width, "…")
		}
		if _, err := fmt.Fprintln(t.To, line); err != nil {
			return err
		}
	}
	return nil
}

// align puts the cells of a row below those of the row before, two spaces between.
func (t *Table) align(row []string) string {
	var b strings.Builder
	at := 0 // where the column begins
	for i, cell := range row {
		if t.Width > 0 && at >= t.Width-1 && at+t.widths[i] > t.Width {
			break // only the mark of a cut would be seen of it
		}
		at += t.widths[i] + 2
		space := strings.Repeat(" ", t.widths[i]-runewidth.StringWidth(cell))
		if slices.Contains(t.Right, i) {
			cell, space = space+cell, ""
		}
		b.WriteString(cell + space + "  ")
	}
	return strings.TrimRight(b.String(), " ")
}

// JSON prints a value as one indented JSON document, for scripts.
func JSON(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}
