package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store/boltstore"
)

func TestServerURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://data.example.com":       "https://data.example.com",
		"https://data.example.com:8443/": "https://data.example.com:8443",
		"https://example.com/data/":      "https://example.com/data",
		"http://127.0.0.1:8080":          "http://127.0.0.1:8080",
		"http://[::1]:8080":              "http://[::1]:8080",
		"http://localhost:8080":          "http://localhost:8080",
		"http://data.example.com":        "", "http://127.0.0.1.example.com": "", "https://u:p@example.com": "",
		"https://example.com?a=b": "", "https://example.com#a": "", "https://": "", "example.com": "", "ftp://example.com": "", "": "", "https://%": "",
	} {
		if got, err := serverURL(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// A data file that another process has open, and whose socket no server listens on,
// is refused at once, with what to do.
func TestConnectRefused(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := program.Run(t, "org", "list", "--data", data)
	if err == nil || !strings.Contains(out, "in use by") || !strings.Contains(out, "no server listens on "+data+".sock") {
		t.Errorf("it said %s", out)
	}
	kit.WriteFile(t, data+".sock", "no socket")
	if out, err = program.Run(t, "org", "list", "--data", data); err == nil || strings.Count(out, "\n") != 2 {
		t.Errorf("it said %s", out)
	}
}
