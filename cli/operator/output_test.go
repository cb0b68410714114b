package operator

import (
	"encoding/json"
	"strings"
	"testing"

	"teamdata/internal/terminal"
)

func TestRecord(t *testing.T) {
	var r record
	text := `{"id":"a","none":null,"empty":"","list":["x","y"],"n":12.5,"is":true,"sub":{"plan":"pro","deep":{"er":1}},"rows":[{"a":1},{"a":2,"b":"c"}],"schema":{"type":"object"},"odd":"a\nb"}`
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range r {
		lines = append(lines, f.name+"="+f.text())
	}
	want := `id=a none= empty= list=x,y n=12.5 is=true sub.plan=pro sub.deep.er=1 rows.1.a=1 rows.2.a=2 rows.2.b=c schema={"type":"object"} odd=a\u000ab`
	if got := strings.Join(lines, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Whatever a server answers, it is an error or a record that is fit to print.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `null`, `{"a":{"b":{"c":[1,{"d":"\u001b"}]}}}`, `{"a":"\u009b","a":2}`, `{"":1}`, `{"a"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r record
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		for _, f := range r {
			if got := f.text(); got != terminal.Plain(got) {
				t.Errorf("%q has the value %q", text, got)
			}
		}
	})
}
