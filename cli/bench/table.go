package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"teamdata/internal/terminal"
)

// columns are those of the table.
var columns = []struct {
	title string
	right bool // its cells are aligned on the right
	cell  func(*Figure) string
}{
	{"figure", false, func(f *Figure) string { return f.Name }},
	{"value", true, func(f *Figure) string { return number(f.Value) }},
	{"unit", false, func(f *Figure) string { return f.Unit }},
	{"baseline", true, func(f *Figure) string { return orDash(f.Baseline) }},
	{"ratio", true, func(f *Figure) string { return orDash(f.Ratio) }},
	{"beside", false, func(f *Figure) string { return f.BaselineOf }},
	{"meaning", false, func(f *Figure) string { return f.Meaning }},
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", &r.Machine)
	if err := r.printFigures(&b); err != nil {
		return err
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s", note)
	}
	fmt.Fprintf(&b, "\nratio: value by baseline, both of the round in the middle; it took %.0f s\n", r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) printFigures(w io.Writer) error {
	t, rows := terminal.Table{To: w}, make([][]string, len(r.Figures))
	for i, c := range columns {
		t.Titles = append(t.Titles, c.title)
		if c.right {
			t.Right = append(t.Right, i)
		}
		for k := range r.Figures {
			rows[k] = append(rows[k], c.cell(&r.Figures[k]))
		}
	}
	return t.Print(rows...)
}

func orDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return number(*v)
}

// number has two significant digits or more, down to a tenth of a thousandth,
// and commas between thousands.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.1:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
