package canonical

import (
	"strings"
	"time"
)

// DateTime parses a date-time of RFC 3339, with T and Z in capitals. [time.Parse] takes
// more: an hour of one digit, a comma before a fraction, and offsets of up to 24:60.
func DateTime(text string) (t time.Time, ok bool) {
	const seconds, offset = len("2006-01-02T15:04:05"), len("07:00")
	if len(text) <= seconds || strings.IndexByte(".Z+-", text[seconds]) < 0 {
		return t, false
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, false
	}
	zone := text[len(text)-offset:]
	return t, zone[offset-1] == 'Z' || zone[:2] <= "23" && zone[3:] <= "59"
}
