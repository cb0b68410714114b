package diagnose

import (
	"strconv"
	"testing"
)

func TestDifference(t *testing.T) {
	long := "0123456789012345678901234567890123456789"
	for _, c := range []struct {
		sent, got string
		want      string // byte: before|at|after of what was sent, then of what was got
	}{
		{`{"a":1}`, `{"a": 1}`, `6: {"a":|1|} {"a":|·|1}`},
		{"abc", "abc\n", "4: abc|| abc|↵|"},
		{"abc\n", "abc", "4: abc|↵| abc||"},
		{"zoë", "zoê", "4: zo|ë| zo|ê|"}, // they share the first byte of the letter
		{long + "x" + long, long + "y" + long, "41: " + long[8:] + "|x|" + long[:32] + " " + long[8:] + "|y|" + long[:32]},
		{"", "x", "1: || |x|"},
		{"same", "same", ""},
	} {
		got := ""
		if d := (Case{Sent: []byte(c.sent), Body: []byte(c.got)}).Difference(); d != nil {
			got = strconv.Itoa(d.Byte) + ": " + shown(d.Sent) + " " + shown(d.Got)
		}
		if got != c.want {
			t.Errorf("%q and %q: %s, not %s", c.sent, c.got, got, c.want)
		}
	}
	if (Case{Body: []byte("x")}).Difference() != nil {
		t.Error("there is a difference to a body that is not known")
	}
}

func shown(e Excerpt) string { return string(e.Before) + "|" + string(e.At) + "|" + string(e.After) }
