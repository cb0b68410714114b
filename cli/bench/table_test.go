package bench

import (
	"slices"
	"strings"
	"testing"
)

// In each column the cells have a common edge, on the left or on the right.
func TestTable(t *testing.T) {
	report := newReport(&Config{Version: "test", Dir: "/a/folder"})
	report.Figures = []Figure{
		compared("accept", "events/s", "handler", "events accepted", []Round{{1234.5, 20_000}}),
		alone("deliver.duplicates", "webhooks", "that came more than once", 0),
		compared("latency.answer.p50", "ms", "a bare client", "half came sooner", []Round{{0.0042, 0.003}}),
	}
	var b strings.Builder
	if err := report.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	head := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "figure ") })
	if head < 0 || !strings.Contains(strings.Join(lines[:head], " "), report.Machine.Folder) {
		t.Fatalf("the table has no head, or does not say what was measured:\n%s", &b)
	}
	at := 0
	for i, title := range titles {
		cells, width := []string{title}, len([]rune(title))
		for k := range report.Figures {
			cells = append(cells, report.Figures[k].row()[i])
			width = max(width, len([]rune(cells[k+1])))
		}
		for k, cell := range cells {
			row, start := []rune(lines[head+k]), at
			if slices.Contains(numeric, i) {
				start += width - len([]rune(cell))
			}
			if got := string(row[start:min(len(row), start+len([]rune(cell)))]); got != cell {
				t.Errorf("in column %s stands %q, not %q:\n%s", title, got, cell, &b)
			}
		}
		at += width + 2
	}
	for _, line := range lines {
		if strings.HasSuffix(line, " ") {
			t.Errorf("a line ends with a space: %q", line)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.00421: "0.0042", 0.5: "0.50", 1.5: "1.50", 12.34: "12.3", 123.4: "123", 1234: "1,234", 1234567: "1,234,567",
	} {
		if got := number(v); got != want {
			t.Errorf("%v is shown as %s, not %s", v, got, want)
		}
	}
}
