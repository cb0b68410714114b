package program

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"teamdata/e2e/kit"
)

// LinkPattern matches a sign-in link.
var LinkPattern = regexp.MustCompile(`https?://\S+/settings/link/sil_[0-9A-Z]+\.[0-9A-Za-z]+`)

// LinkPath is the path of the sign-in link in a text; empty: it has none.
func LinkPath(text string) string {
	_, path, ok := strings.Cut(LinkPattern.FindString(text), "/settings/link/")
	if !ok {
		return ""
	}
	return "/settings/link/" + path
}

// Browser is a client that keeps its cookies, as a person has one.
func Browser(p *Process) *http.Client {
	p.T.Helper()
	jar, err := cookiejar.New(nil)
	kit.Must(p.T, err)
	client := *p.Client
	client.Jar = jar
	return &client
}

// Open requests a page, or sends it a form, and returns the resulting page.
func Open(p *Process, client *http.Client, link string, form url.Values) string {
	p.T.Helper()
	r, err := client.Get(link)
	if form != nil {
		r.Body.Close()
		r, err = client.PostForm(link, form)
	}
	kit.Must(p.T, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		p.T.Fatalf("%s: %v\n%s", r.Status, err, body)
	}
	return string(body)
}

// SignInBy chooses a password with a sign-in link, at the server's address, and returns the account page.
func SignInBy(p *Process, link string) (page string) {
	p.T.Helper()
	v := Browser(p)
	link = p.URL + LinkPath(link)
	if page = Open(p, v, link, nil); !strings.Contains(page, "Choose a password") {
		p.T.Errorf("the link leads to\n%s", page)
	}
	Open(p, v, link, url.Values{"password": {"several words of mine"}, "again": {"several words of mine"}})
	if page = Open(p, v, p.URL+"/settings/account", nil); !strings.Contains(page, "usr_ada") {
		p.T.Errorf("the account's page is\n%s", page)
	}
	return page
}
