package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/cli/operator"
	"teamdata/e2e/kit"
)

// A file with a token may be as an editor leaves it. What holds none is named.
func TestOperatorToken(t *testing.T) {
	t.Setenv("TEAMDATA_OPERATOR_TOKEN", "opr_of.environment")
	file := filepath.Join(t.TempDir(), "operator.token")
	for content, want := range map[string]string{
		"opr_1.s3cret": "", "opr_1.s3cret\r\n": "", "\ufeffopr_1.s3cret\n": "",
		"\xff\xfeo\x00p\x00": file + " is UTF-16; save it in UTF-8",
		"opr_1.s3cr\u00e9t":  file + " does not hold an operator token",
		"":                   file + " does not hold an operator token",
		"opr_1":              file + " does not hold an operator token",
		"opr_1.a b":          file + " does not hold an operator token",
		"opr_1.a\nopr_2.b":   file + " does not hold an operator token",
	} {
		kit.Must(t, os.WriteFile(file, []byte(content), 0o600))
		got, err := operatorToken(operator.Target{TokenFile: file})
		if want == "" && (got != "opr_1.s3cret" || err != nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q became %q, %v", content, got, err)
		}
	}
}

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
