package settings

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"teamdata/store"
	"teamdata/wire/look"
)

// templateFuncs are what templates may call.
var templateFuncs = template.FuncMap{
	"icon":          icon,
	"initials":      initials,
	"orgPath":       orgPath,
	"time":          formatTime,
	"isoTime":       store.FormatTime,
	"list":          func(items ...any) []any { return items },
	"nonce":         rand.Text,
	"fails":         fails,
	"label":         labelOf,
	"sentence":      errorSentence,
	"errorTitle":    errorTitle,
	"browser":       browserName,
	"text":          formatBytes,
	"json":          colourJSON,
	"took":          formatDuration,
	"breaks":        breakable,
	"goKeys":        func() []goKey { return goKeys },
	"lasted":        formatLasted,
	"endpointName":  endpointName,
	"endpointTitle": endpointTitle,
	"endpointHost":  endpointHost,
	"address":       splitURL,
	"count":         func(n int) string { return formatCount(n, false) },
	"share":         formatShare,
	"spans":         func() []span { return spans },
	"why":           failureText,
	"status":        statusText,
	"waiting":       formatWaiting,
	"rateUnits":     func() any { return rateUnits },
}

// orgPath is the path of a page of an org, or of its overview.
func orgPath(orgID string, parts ...string) string {
	path := Path + "/orgs/" + url.PathEscape(orgID)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// initials stand for a person or an org: the first letters of the first and the last
// word of the name.
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return "?"
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	if len(words) == 1 || first > unicode.MaxLatin1 {
		return strings.ToUpper(string(first))
	}
	last, _ := utf8.DecodeRuneInString(words[len(words)-1])
	return strings.ToUpper(string([]rune{first, last}))
}

// formatCount formats a count with commas, and with a plus if there are more than were
// counted.
func formatCount(n int, more bool) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	if more {
		text += "+"
	}
	return text
}

// formatWaiting formats how many deliveries wait, held ones included.
func formatWaiting(w store.Waiting) string { return formatCount(w.Total(), w.Capped) }

// formatShare formats n of all in percent; a dash if all is 0.
func formatShare(n, all int) string {
	if all == 0 {
		return "–"
	}
	share := math.Floor(1000*float64(n)/float64(all)) / 10 // 100% is all of them
	return strconv.FormatFloat(share, 'f', -1, 64) + "%"
}

// withQuery is a path with a query: names and values in turn, of which empty values
// are left out, and the last of a name counts.
func withQuery(path string, pairs ...string) string {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if query.Del(pair[0]); pair[1] != "" {
			query.Set(pair[0], pair[1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// formatTime formats a time in UTC; the script converts it to the reader's zone.
// Templates use it through the part "when".
func formatTime(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// fails reports whether the error of a form is about a field.
func fails(err *store.Error, field string) bool { return err != nil && err.Field == field }

// labels are the labels of forms that are not the names that the rules have for
// the fields.
var labels = map[string]string{
	"email": "E-mail address", "endpoints": "Choice of endpoints", "events": "Event types", "expiresAt": "Date", "old": "Current password",
	"ca": "CA", "clientCertificate": "Client certificate", "clientKey": "Client key", "maxInFlight": "At the same time",
	"overlap": "The old secret stops signing", "password": "New password", "received": "Time of receipt",
	"secret": "Your own secret", "signInName": "Sign-in name", "url": "URL",
}

// labelOf is the label of a field.
func labelOf(field string) string {
	return cmp.Or(labels[field], strings.ToUpper(field[:1])+field[1:])
}

// errorSentence is what is wrong with a field of a form. Most rules say it without their
// subject, as in "is taken".
func errorSentence(e *store.Error) string {
	text := e.Text()
	if first, _ := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
		text = labelOf(e.Field) + " " + text
	}
	return strings.TrimSuffix(text, ".") + "."
}

// formatBytes shows bytes that anybody may have sent. What is not UTF-8, is
// invisible, or would change the direction of the text is escaped.
func formatBytes(b []byte) string {
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1) {
			text.WriteRune(r)
		} else {
			text.WriteString(strings.Trim(strconv.QuoteToASCII(string(b[:size])), `"`))
		}
		b = b[size:]
	}
	return text.String()
}

// colourJSON is JSON with its names and texts marked. Whatever else somebody sent is
// shown like that too, as formatBytes shows it.
func colourJSON(b []byte) template.HTML { return look.JSON(formatBytes(b)) }

// formatDuration formats a duration with the precision that people care about.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
}

// formatLasted is how long something took that people wait for, such as "1 min 13 s".
func formatLasted(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	switch hours, minutes := seconds/3600, seconds/60%60; {
	case seconds == 0:
		return "less than 1 s"
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, seconds%60)
	}
	return fmt.Sprintf("%d s", seconds)
}

// splitURL is a URL for people: its host, and what follows. https:// goes without saying.
func splitURL(text string) [2]string {
	rest := strings.TrimPrefix(text, "https://")
	scheme := ""
	if plain, ok := strings.CutPrefix(rest, "http://"); ok {
		scheme, rest = "http://", plain
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	path := rest[end:]
	if path == "/" {
		path = ""
	}
	return [2]string{scheme + rest[:end], path}
}

// breakable is a name or an address whose lines may end after each / and period.
func breakable(text string) template.HTML {
	return template.HTML(lineEnds.Replace(template.HTMLEscapeString(text)))
}

var lineEnds = strings.NewReplacer("/", "/<wbr>", ".", ".<wbr>")

func shortURL(text string) string {
	parts := splitURL(text)
	return parts[0] + parts[1]
}

// endpointName is what people call an endpoint: its address, or of one that is pulled its
// description, or else its id.
func endpointName(e store.Endpoint) string {
	if e.Pull() {
		return e.Label()
	}
	return shortURL(e.URL)
}

// endpointTitle is endpointName with nothing left out.
func endpointTitle(e store.Endpoint) string { return cmp.Or(e.URL, e.Label()) }

// endpointHost is endpointName without the path.
func endpointHost(e store.Endpoint) string {
	if e.Pull() {
		return e.Label()
	}
	return splitURL(e.URL)[0]
}

// formatDays formats a long duration in days, if it is whole days.
func formatDays(d time.Duration) string {
	switch {
	case d == wholeDay:
		return "a day"
	case d%wholeDay == 0:
		return strconv.Itoa(int(d/wholeDay)) + " days"
	}
	return d.String()
}

// browserNames and systemNames are searched for in the header User-Agent.
// The order matters: each names itself after those before it in history.
var (
	browserNames = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	}
	systemNames = [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
)

// browserName returns the common name of a session's browser. It is only a hint:
// browsers may send anything.
func browserName(userAgent string) string {
	browser := cmp.Or(nameFor(browserNames, userAgent), "A browser")
	if system := nameFor(systemNames, userAgent); system != "" {
		browser += " on " + system
	}
	return browser
}

func nameFor(names [][2]string, text string) string {
	for _, n := range names {
		if strings.Contains(text, n[0]) {
			return n[1]
		}
	}
	return ""
}
