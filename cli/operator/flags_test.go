package operator

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTimeFlag(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-02":                "2027-01-02T00:00:00.000Z",
		"2027-01-02 03:04":          "2027-01-02T03:04:00.000Z",
		"2027-01-02 03:04:05":       "2027-01-02T03:04:05.000Z",
		"2027-01-02T03:04:05Z":      "2027-01-02T03:04:05.000Z",
		"2027-01-02T03:04:05.678Z":  "2027-01-02T03:04:05.678Z",
		"2027-01-02T03:04:05+02:00": "2027-01-02T01:04:05.000Z",
		"":                          "", "tomorrow": "", "-1h": "", "2027-13-01": "", "5": "", "2027-01-02T03:04:05+24:00": "", "2027-01-02T3:04:05Z": "",
	} {
		m := timeFlag{sign: 1}
		if err := m.Set(text); (err == nil) != (want != "") || m.String() != want {
			t.Errorf("%q became %q, %v", text, m.String(), err)
		}
	}
	for _, sign := range []time.Duration{1, -1} {
		m := timeFlag{sign: sign}
		if err := m.Set("36h"); err != nil || time.Duration(*m.fromNow) != sign*36*time.Hour || m.String() != "36h" {
			t.Errorf("36h with the sign %d is %v from now, %v", sign, m.fromNow, err)
		}
		if err := m.Set("2027-01-02"); err != nil || m.fromNow != nil {
			t.Errorf("a date is %v from now, %v", m.fromNow, err)
		}
	}
}

// The flags that were set are fields of the body, each with its type.
func TestFieldsSet(t *testing.T) {
	o := operation{flags: []flag{
		{"contentType", "content-type", text, true, ""}, {"name", "name", text, false, ""}, {"leftOut", "left-out", text, false, ""},
		{"size", "size", number, false, ""}, {"scopes", "scopes", texts, false, ""}, {"none", "none", texts, false, ""},
		{"mail", "mail", truth, false, ""}, {"expiresInSeconds", "expires-in", duration, false, ""}, {"since", "since", pastTime, false, ""},
	}}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.bind(f)
	if err := f.Parse([]string{"--content-type", "text/plain", "--name", "", "--size", "12", "--scopes", "read,write", "--none", "", "--mail", "--expires-in", "1h", "--since", "2027-01-02"}); err != nil {
		t.Fatal(err)
	}
	for o, want := range map[*operation]string{
		&o: `{"contentType":"text/plain","expiresInSeconds":3600,"mail":true,"name":"","none":[],"scopes":["read","write"],"since":"2027-01-02T00:00:00.000Z","size":12}`,
		new(o.without("size", "mail", "name", "expiresInSeconds", "scopes", "none", "since")): `{"contentType":"text/plain"}`,
		new(operation{flags: o.flags[3:4]}):                                                   `{"size":12}`,
	} {
		if body, err := json.Marshal(o.fieldsSet(f)); err != nil || string(body) != want {
			t.Errorf("got %s, not %s, %v", body, want, err)
		}
	}
}

// What a command says of its flags is for people at a command line: it knows no null, no
// Markdown and no seconds.
func TestUsageOfGeneratedFlags(t *testing.T) {
	checked := 0
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			checked++
			for _, word := range []string{"null", "Idempotency-Key", "seconds", ". ."} {
				if strings.Contains(f.Usage, word) {
					t.Errorf("%s --%s: the help says %q: %s", cmd.CommandPath(), f.Name, word, f.Usage)
				}
			}
			if value, _ := pflag.UnquoteUsage(f); value == "int" || value == "int64" {
				t.Errorf("%s --%s: the help calls its value %s", cmd.CommandPath(), f.Name, value)
			}
			if n := strings.Count(f.Usage, "`"); f.Usage == "" || n != 0 && n != 2 || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s has the help %q", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	for _, cmd := range Commands(Config{}) {
		check(cmd)
	}
	if checked < 100 {
		t.Errorf("only %d flags were checked", checked)
	}
}
