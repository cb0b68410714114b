package docs

import (
	"slices"
	"strings"
	"testing"
)

// The start page comes first, and each page has a title.
func TestPages(t *testing.T) {
	pages := Pages()
	if len(pages) < 10 || pages[0].Path() != Path {
		t.Errorf("there are %d pages, and the first is %s", len(pages), pages[0].Name)
	}
	for _, p := range pages {
		if !strings.HasPrefix(p.Text, "# "+p.Title+"\n") || p.Title == "" {
			t.Errorf("%s has the title %q", p.Name, p.Title)
		}
	}
}

// There is a sample in each of the languages, whole and with its name. That each says yes
// and no as it should is tested in package delivery, which runs all blocks of the page.
func TestSamples(t *testing.T) {
	var names []string
	for _, s := range Samples() {
		names = append(names, s.Language)
		if !strings.Contains(s.Code, "WEBHOOK_SECRETS") || !strings.Contains(read("webhook-samples"), "\n"+s.Code+"```\n") {
			t.Errorf("the sample in %s is not whole:\n%s", s.Language, s.Code)
		}
	}
	for _, s := range Samples() {
		got := s.Verify()
		whole := strings.Contains(got, "verify(") && strings.Contains(s.Code, "\n"+got+"\n") && !strings.Contains(got, "WEBHOOK_SECRETS") && strings.Contains(strings.ToLower(got), "secret is not whole")
		if s.Language == "Shell" && got != "" || s.Language != "Shell" && !whole {
			t.Errorf("in %s the function verify is\n%s", s.Language, got)
		}
	}
	if want := []string{"Go", "Node", "Python", "Ruby", "Shell"}; !slices.Equal(names, want) {
		t.Errorf("there are samples in %q, not %q", names, want)
	}
}

// There is a sample that pulls for each way, whole and from the address that is replaced.
func TestPullSamples(t *testing.T) {
	var names []string
	for _, s := range PullSamples() {
		names = append(names, s.Language)
		if !strings.Contains(s.Code, PullURL) || !strings.Contains(s.Code, "TEAMDATA_KEY") || s.ID == "" {
			t.Errorf("the sample in %s is not whole:\n%s", s.Language, s.Code)
		}
	}
	if want := []string{"curl", "Go", "Node", "Python", "listen"}; !slices.Equal(names, want) {
		t.Errorf("there are samples in %q, not %q", names, want)
	}
}
