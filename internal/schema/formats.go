package schema

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"teamdata/internal/canonical"
)

// formats are checked where the draft says so; others are notes.
var formats = map[string]func(text string) bool{
	"date-time": isDateTime,
	"date":      func(text string) bool { return len(text) == len(time.DateOnly) && isDateTime(text+"T00:00:00Z") },
	"time":      func(text string) bool { return isDateTime("2000-01-01T" + text) },
	"email":     isEmail,
	"hostname":  func(text string) bool { return canonical.IsName(strings.TrimSuffix(text, "."), "") },
	"ipv4":      func(text string) bool { a, err := netip.ParseAddr(text); return err == nil && a.Is4() },
	"ipv6": func(text string) bool {
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is6() && a.Zone() == ""
	},
	"uri":                   func(text string) bool { u := uriOf(text); return u != nil && u.IsAbs() },
	"iri":                   func(text string) bool { u := uriOf(text); return u != nil && u.IsAbs() },
	"uri-reference":         func(text string) bool { return uriOf(text) != nil },
	"iri-reference":         func(text string) bool { return uriOf(text) != nil },
	"uri-template":          func(text string) bool { return forms().template.MatchString(text) },
	"json-pointer":          func(text string) bool { return forms().pointer.MatchString(text) },
	"relative-json-pointer": func(text string) bool { return forms().relative.MatchString(text) },
	"uuid":                  func(text string) bool { return forms().uuid.MatchString(text) },
	"duration":              isDuration,
	"regex":                 func(text string) bool { _, err := regexp.Compile(text); return err == nil },
}

type formPatterns struct{ template, pointer, relative, uuid, duration *regexp.Regexp }

var forms = sync.OnceValue(func() formPatterns {
	const pointer = `(/([^~/]|~[01])*)*$`
	return formPatterns{
		template: regexp.MustCompile(`^([^{}]|\{[^{}]*\})*$`),
		pointer:  regexp.MustCompile(`(?s)^` + pointer),
		relative: regexp.MustCompile(`(?s)^(0|[1-9][0-9]*)(#$|` + pointer + `)`),
		uuid:     regexp.MustCompile(`^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$`),
		duration: regexp.MustCompile(`^P([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)$`),
	}
})

func isDuration(text string) bool {
	last := strings.TrimRight(text, "WYMDHS")
	return forms().duration.MatchString(text) && last != text
}

// isDateTime takes those of RFC 3339, with leap seconds.
func isDateTime(text string) bool {
	const seconds, hour, minute, last = 17, 23, 59, 59
	text = strings.ToUpper(text)
	leaps := len(text) > seconds+2 && text[seconds:seconds+2] == "60"
	if leaps {
		text = text[:seconds] + "59" + text[seconds+2:]
	}
	t, ok := canonical.DateTime(text)
	if t = t.UTC(); !ok {
		return false
	}
	return !leaps || t.Hour() == hour && t.Minute() == minute && t.Second() == last
}

func isEmail(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Name == "" && a.Address == text
}

// uriOf is nil for what is none.
func uriOf(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " \\^|`\"<>") {
		return nil
	}
	return u
}
