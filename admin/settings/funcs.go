package settings

import (
	"crypto/rand"
	"html/template"
	"net/url"
	"time"

	"teamdata/store"
)

// templateFuncs are what templates may call.
var templateFuncs = template.FuncMap{
	"asset":   assetPath,
	"orgPath": orgPath,
	"time":    shownTime,
	"isoTime": store.FormatTime,
	"list":    func(items ...any) []any { return items },
	"nonce":   rand.Text,
	"fails":   fails,
	"label":   labelOf,
	"browser": browserName,
	"text":    shownBytes,
	"took":    shownDuration,
}

// orgPath is the path of a page of an org, or of its overview.
func orgPath(orgID string, parts ...string) string {
	path := Path + "/orgs/" + url.PathEscape(orgID)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// shownTime is a time for people, in UTC; the script shows it in the reader's zone
// where it can. Templates write it by the part "when".
func shownTime(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// fails tells whether an error of a form is of a field.
func fails(err *store.Error, field string) bool { return err != nil && err.Field == field }
