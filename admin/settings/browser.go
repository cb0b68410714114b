package settings

import "strings"

// browserNames and systemNames are looked for in what a browser says of itself.
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

// browserName is how people know the browser of a session. It is a hint: a browser
// may say what it likes.
func browserName(userAgent string) string {
	browser, system := named(browserNames, userAgent), named(systemNames, userAgent)
	switch {
	case browser == "" && system == "":
		return "A browser"
	case browser == "":
		return "A browser on " + system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func named(names [][2]string, text string) string {
	for _, n := range names {
		if strings.Contains(text, n[0]) {
			return n[1]
		}
	}
	return ""
}
