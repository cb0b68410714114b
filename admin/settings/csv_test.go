package settings

import (
	"encoding/csv"
	"strings"
	"testing"

	"teamdata/store"
)

func TestCSVText(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "plain": "plain", `a"b`: `a""b`, "a,b": "a,b", "a\r\nb": "a\r\nb", "ü😀": "ü😀", " =1": " =1", "a=1": "a=1", "'": "'",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", `="a"`: `'=""a""`,
	} {
		if got := csvText(value); got != want {
			t.Errorf("%q became %q, want %q", value, got, want)
		}
	}
}

// FuzzCSV holds a line to what a reader of CSV makes of it.
func FuzzCSV(f *testing.F) {
	f.Add("usr_ada", "member.added", "mem_1")
	f.Add("=1", "a\"b,c\r\n", "\n")
	f.Fuzz(func(t *testing.T, actor, action, target string) {
		line := csvHeader + string(appendCSV(nil, store.AuditEntry{ID: "aud_1", CreatedAt: noon, ActorID: actor, Action: action, TargetID: target}))
		r := csv.NewReader(strings.NewReader(line))
		records, err := r.ReadAll()
		if err != nil || len(records) != 2 || len(records[1]) != 5 {
			t.Fatalf("%q: %q, %v", line, records, err)
		}
		for i, value := range []string{actor, action, target} {
			got := records[1][i+2]
			if got != strings.ReplaceAll(value, "\r\n", "\n") && got != "'"+strings.ReplaceAll(value, "\r\n", "\n") {
				t.Errorf("%q became %q", value, got)
			}
			if got != "" && strings.Contains("=+-@\t\r", got[:1]) {
				t.Errorf("%q is a formula", got)
			}
		}
	})
}
