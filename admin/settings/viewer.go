package settings

import (
	"bytes"
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// viewable has the pages of an org that a viewer sees too.
var viewable httprouter.Router

func init() { // the handlers lead back here
	for _, rt := range routes {
		if rt.access == viewers {
			viewable.GET(Path+rt.path, func(http.ResponseWriter, *http.Request, httprouter.Params) {})
		}
	}
}

var errViewer = store.Errorf(store.CodeForbidden, "Your role is viewer: you can see this org's settings, but not change them.").
	Advise("An owner or admin of the org can do this or give you another role.")

// checkViewer refuses what a person who doesn't manage the org of the path may not do
// there, and a change of members in a portal.
func (r *request) checkViewer() error {
	if r.Session.Portal.Is() && r.Member.Manages() && r.route.access == inviters {
		return errPortalMembers
	}
	if r.Org.ID == "" || r.Member.Manages() || r.HTTP.Method == http.MethodGet && r.route != nil && r.route.access == viewers {
		return nil
	}
	return errViewer
}

// Parts of a rendered page. Elements of these kinds don't nest, and texts in them are
// escaped.
var (
	formElement   = regexp.MustCompile(`(?s)<form\b[^>]*>.*?</form>`)
	formTag       = regexp.MustCompile(`^<form\b[^>]*>`)
	buttonElement = regexp.MustCompile(`(?s)<button\b[^>]*\sform(?:action)?="[^>]*>.*?</button>`)
	linkElement   = regexp.MustCompile(`(?s)<a\b[^>]*>.*?</a>`)
	actionValue   = regexp.MustCompile(`\saction="([^"]*)"`)
	hrefValue     = regexp.MustCompile(`^<a\b[^>]*\shref="([^"]*)"`)
	emptyElement  = regexp.MustCompile(`<(?:li|p)\b[^>]*>\s*</(?:li|p)>`)
)

// withoutForms removes from a page what a viewer can't use: the forms of the org and
// the links to pages that are not viewable. So none is forgotten in a template.
func withoutForms(page []byte) []byte {
	page = formElement.ReplaceAllFunc(page, func(form []byte) []byte {
		tag := formTag.Find(form)
		action := actionValue.FindSubmatch(tag)
		if !bytes.Contains(tag, []byte(`method="post"`)) || action != nil && !inOrg(string(action[1])) {
			return form
		}
		if action == nil { // its buttons say where they lead, and what is around them is not for them
			return bytes.TrimSuffix(form[len(tag):], []byte("</form>"))
		}
		return nil
	})
	page = buttonElement.ReplaceAll(page, nil)
	page = linkElement.ReplaceAllFunc(page, func(link []byte) []byte {
		if href := hrefValue.FindSubmatch(link); href != nil && inOrg(string(href[1])) && !leadsToViewable(string(href[1])) {
			return nil
		}
		return link
	})
	return emptyElement.ReplaceAll(page, nil)
}

// inOrg reports whether an address in a page is one of an org's pages.
func inOrg(address string) bool {
	return strings.HasPrefix(html.UnescapeString(address), Path+"/orgs/")
}

// leadsToViewable reports whether an address in a page leads to a viewable page.
func leadsToViewable(address string) bool {
	path, _, _ := strings.Cut(html.UnescapeString(address), "?")
	path, _, _ = strings.Cut(path, "#")
	page, _, _ := viewable.Lookup(http.MethodGet, path)
	return page != nil
}
