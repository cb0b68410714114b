package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// column is one of the table's.
type column struct {
	title string
	right bool // its cells are aligned on the right
	cell  func(*Figure) string
}

var columns = []column{
	{"figure", false, func(f *Figure) string { return f.Name }},
	{"value", true, func(f *Figure) string { return number(f.Value) }},
	{"unit", false, func(f *Figure) string { return f.Unit }},
	{"floor", true, func(f *Figure) string { return orDash(f.Floor, number) }},
	{"ratio", true, func(f *Figure) string { return orDash(f.Ratio, ratio) }},
	{"beside", false, func(f *Figure) string { return f.FloorOf }},
	{"meaning", false, func(f *Figure) string { return f.Meaning }},
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", &r.Machine)
	widths := r.widths()
	for i, c := range columns {
		c.put(&b, c.title, widths[i], i == len(columns)-1)
	}
	for k := range r.Figures {
		for i, c := range columns {
			c.put(&b, c.cell(&r.Figures[k]), widths[i], i == len(columns)-1)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s", note)
	}
	fmt.Fprintf(&b, "\nratio: value by floor, both of the round in the middle; it took %.0f s\n", r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) widths() []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for k := range r.Figures {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.cell(&r.Figures[k])))
		}
	}
	return widths
}

func (c *column) put(b *strings.Builder, cell string, width int, last bool) {
	gap := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	switch {
	case last:
		b.WriteString(cell + "\n")
	case c.right:
		b.WriteString(gap + cell + "  ")
	default:
		b.WriteString(cell + gap + "  ")
	}
}

func orDash(v *float64, format func(float64) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// number has two digits or more that count, down to a tenth of a thousandth, and
// commas between thousands.
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
