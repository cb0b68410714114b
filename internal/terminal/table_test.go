package terminal

import (
	"strings"
	"testing"
)

// Cells of a column begin, or end, where the others do, whatever script they are in.
func TestTable(t *testing.T) {
	var b strings.Builder
	table := Table{To: &b, Titles: []string{"NAME", "SIZE", "NOTE"}, Right: []int{1}}
	for _, rows := range [][][]string{
		{{"Ada", "7", ""}, {"山田花子", "1,234", "wide"}},
		{{"Zoe\u0308", "12", "a mark on the e"}, {"✅👩‍💻", "4", "pictographs"}, {"a longer name", "3", "grows"}},
	} {
		if err := table.Print(rows...); err != nil {
			t.Fatal(err)
		}
	}
	want := `NAME       SIZE  NOTE
Ada           7
山田花子  1,234  wide
Zoë               12  a mark on the e
✅👩‍💻               4  pictographs
a longer name      3  grows
`
	if got := b.String(); got != strings.ReplaceAll(want, "Zoë", "Zoe\u0308") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A line is cut to the width of a terminal, not in the middle of a wide character.
func TestTableCut(t *testing.T) {
	for text, want := range map[string]string{
		"123456": "123456", "1234567": "12345…", "山田花": "山田花", "山田花子": "山田…", "a山田花": "a山田…",
	} {
		var b strings.Builder
		if err := (&Table{To: &b, Width: 6}).Print([]string{text}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

// A column of which only the mark of a cut would be seen is left out.
func TestTableColumnsThatFit(t *testing.T) {
	for width, want := range map[int]string{
		0: "ID  URL    EVENTS\n1   a.org  *\n", 17: "ID  URL    EVENTS\n1   a.org  *\n", 13: "ID  URL    E…\n1   a.org  *\n",
		12: "ID  URL\n1   a.org\n", 9: "ID  URL\n1   a.org\n", 8: "ID  URL\n1   a.o…\n", 5: "ID\n1\n",
	} {
		var b strings.Builder
		if err := (&Table{To: &b, Width: width, Titles: []string{"ID", "URL", "EVENTS"}}).Print([]string{"1", "a.org", "*"}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != want {
			t.Errorf("%d columns:\n%s, want\n%s", width, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 faults": Count(0, "fault"), "1 fault": Count(1, "fault"), "2 faults": Count(2, "fault"),
		"1 audit entry": Count(1, "audit entry"), "3 audit entries": Count(3, "audit entry"),
	} {
		if got != want {
			t.Errorf("got %q, not %q", got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	const text = "a\x1b[2J\u009b\u202eb\nc\xff"
	if got, want := Plain(text), `a\u001b[2J\u009b\u202eb\u000ac`+"\ufffd"; got != want {
		t.Errorf("got %q, not %q", got, want)
	}
	if got, want := Escape(text, "\n"), `a\u001b[2J\u009b\u202eb`+"\nc\ufffd"; got != want {
		t.Errorf("got %q, not %q", got, want)
	}
}
