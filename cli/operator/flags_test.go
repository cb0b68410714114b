package operator

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestTimeFlag(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-02":                "2027-01-02T00:00:00.000Z",
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
func TestGiven(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.String("content-type", "", "")
	f.String("name", "", "")
	f.String("left-out", "default", "")
	f.Int64("size", 0, "")
	f.StringSlice("scopes", nil, "")
	if err := f.Parse([]string{"--content-type", "text/plain", "--name", "", "--size", "12", "--scopes", "read,write"}); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(given(f, "content-type", "name", "left-out", "size", "scopes"))
	if want := `{"contentType":"text/plain","name":"","scopes":["read","write"],"size":12}`; err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
}
