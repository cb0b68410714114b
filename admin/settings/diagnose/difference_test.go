package diagnose

import (
	"strconv"
	"strings"
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
		{long + "x" + long, long + "y" + long, "41: …" + long[8:] + "|x|" + long[:32] + "… …" + long[8:] + "|y|" + long[:32] + "…"},
		{"", "x", "1: || |x|"},
		{"same", "same", ""},
	} {
		got := ""
		request := Case{Sent: []byte(c.sent), Body: []byte(c.got)}
		if check := request.CheckBody(); check.OK != (c.sent == c.got) || !check.OK && !strings.Contains(check.Text, "from byte "+strconv.Itoa(request.Difference().Byte)) {
			t.Errorf("%q and %q: the check is %+v", c.sent, c.got, check)
		}
		if d := request.Difference(); d != nil {
			got = strconv.Itoa(d.Byte) + ": " + shown(d.Sent) + " " + shown(d.Got)
		}
		if got != c.want {
			t.Errorf("%q and %q: %s, not %s", c.sent, c.got, got, c.want)
		}
	}
	if unknown := (Case{Body: []byte("x")}); unknown.Difference() != nil || unknown.CheckBody() != nil {
		t.Error("there is a difference to a body that is not known")
	}
}

func shown(e Excerpt) string { return string(e.Before) + "|" + string(e.At) + "|" + string(e.After) }

// What to do fits the reason that is named first.
func TestFix(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Case)
		want   string
	}{
		"verifies":          {func(*Case) {}, ""},
		"parsed again":      {func(c *Case) { c.Body = []byte(`{"type": "file.uploaded"}`); c.Sent = []byte(sent) }, fixBody},
		"another secret":    {func(c *Case) { c.Headers = lines(id, unix(noon), sign(t, other, id, noon, sent)) }, fixSecret},
		"old, and cut":      {func(c *Case) { c.Headers = lines(id, "1", "v1,AAAA") }, fixClock},
		"cut":               {func(c *Case) { c.Headers = lines(id, unix(noon), "v1,AAAA") }, fixHeaders},
		"without timestamp": {func(c *Case) { c.Headers = lines(id, "", sign(t, secret, id, noon, sent)) }, fixHeaders},
	} {
		request := good(t)
		c.change(&request)
		if r := request.Diagnose(); r.Fix != c.want {
			t.Errorf("%s: %q with the advice %q, not %q", name, r.Reason(), r.Fix, c.want)
		}
	}
}
