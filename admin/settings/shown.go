package settings

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// shownBytes are bytes that anybody may have sent, as text. What is not UTF-8, or
// can't be seen, or would turn the text around, is written as an escape.
func shownBytes(b []byte) string {
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && size == 1:
			text.WriteString(`\x` + strconv.FormatUint(uint64(b[0])|0x100, 16)[1:])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			text.WriteRune(r)
		default:
			text.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		b = b[size:]
	}
	return text.String()
}

// shownDuration is how long something took, as exactly as people care for.
func shownDuration(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
}
