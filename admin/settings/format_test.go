package settings

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Each label is that of a field in some form.
func TestLabels(t *testing.T) {
	var forms strings.Builder
	files, err := fs.Glob(templateFiles, "templates/*.html")
	kit.Must(t, err)
	for _, file := range files {
		text, err := templateFiles.ReadFile(file)
		kit.Must(t, err)
		forms.Write(text)
	}
	fields := slices.AppendSeq([]string{"body", "description", "headers", "instructions", "name", "scopes", "since", "until"}, maps.Keys(labels))
	for _, field := range fields {
		if label := labelOf(field); !strings.Contains(forms.String(), label) || !strings.Contains(forms.String(), ` id="`+field+`"`) {
			t.Errorf("no form has the field %s with the label %s", field, label)
		}
	}
	for want, err := range map[string]*store.Error{
		"Sign-in name is taken; choose another one.": store.Invalid("signInName", "is taken").Advise("choose another one"),
		"The body is not in base64.":                 store.Invalid("body", "The body is not in base64."),
	} {
		if got := errorSentence(err); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	if labelOf("url") != "URL" || labelOf("unheardOf") != "UnheardOf" {
		t.Errorf("url is %s, unheardOf is %s", labelOf("url"), labelOf("unheardOf"))
	}
}

func TestFormatDays(t *testing.T) {
	for d, want := range map[time.Duration]string{90 * 24 * time.Hour: "90 days", 24 * time.Hour: "a day", 36 * time.Hour: "36h0m0s"} {
		if got := formatDays(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestBrowserName(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0":                                                     "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36 Edg/141.0":      "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Mobile Safari/537.36":                   "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.0 Mobile Safari/60": "Safari on iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.0 Safari/605.1":            "Safari on macOS",
		"": "A browser", "test": "A browser", "curl/8.5": "curl", "X (Linux)": "A browser on Linux",
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%q is %q", agent, got)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		more bool
	}{
		"0": {}, "999": {n: 999}, "1,000": {n: 1000}, "1,000+": {1000, true}, "100+": {100, true}, "100,000+": {100_000, true},
	} {
		if got := formatCount(c.n, c.more); got != want {
			t.Errorf("%+v: %s, not %s", c, got, want)
		}
	}
}

func TestColourJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": "b\"c", "n": 1}`: `{<span class="k">&#34;a&#34;</span>: <span class="s">&#34;b\&#34;c&#34;</span>, <span class="k">&#34;n&#34;</span>: 1}`,
		`<b>"<i>`:               `&lt;b&gt;&#34;&lt;i&gt;`,
		"\"\xff\u202e\"":        `<span class="s">&#34;\xff\u202e&#34;</span>`,
		"":                      "",
	} {
		if got := string(colourJSON([]byte(in))); got != want {
			t.Errorf("%s becomes %s, not %s", in, got, want)
		}
	}
}
