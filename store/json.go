package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"teamdata/internal/canonical"
)

// TimeFormat is how times are written: UTC, milliseconds, Z.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// MaxTime is the latest time that fits a cursor's fifteen digits and a four-digit
// year.
var MaxTime = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)

// FormatTime writes t in TimeFormat.
func FormatTime(t time.Time) string { return string(appendUTC(make([]byte, 0, len(TimeFormat)), t)) }

// appendUTC appends t in TimeFormat. The time package is quicker without the
// milliseconds, as it knows that layout.
func appendUTC(dst []byte, t time.Time) []byte {
	t = t.UTC()
	dst = t.AppendFormat(dst, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(dst[:len(dst)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// ParseTime parses an ISO 8601 date-time in UTC that ends in Z, with or without
// fractional seconds, between 1970 and MaxTime. It truncates to milliseconds.
func ParseTime(text string) (time.Time, error) {
	t, ok := canonical.DateTime(text)
	if !ok || text[len(text)-1] != 'Z' || t.Before(time.UnixMilli(0)) || t.After(MaxTime) {
		return time.Time{}, fmt.Errorf("%.40q is not a date-time in UTC such as 2026-10-06T12:00:00.000Z", text)
	}
	return t.Truncate(time.Millisecond), nil
}

// AppendJSONString appends s as a JSON string. HTML is not escaped: the text
// is read by programs and signed byte by byte.
func AppendJSONString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c > 0x7e {
			return append(dst, marshal(s)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// marshal is json.Marshal without HTML escaping; it can't fail for a string.
func marshal(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendField appends `,"name":` (without the comma after an opening brace).
func appendField(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func appendString(dst []byte, name, value string) []byte {
	return AppendJSONString(appendField(dst, name), value)
}

// appendNullable writes null for an empty value.
func appendNullable(dst []byte, name, value string) []byte {
	if value == "" {
		return append(appendField(dst, name), "null"...)
	}
	return appendString(dst, name, value)
}

func appendTime(dst []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return append(appendField(dst, name), "null"...)
	}
	dst = append(appendField(dst, name), '"')
	dst = appendUTC(dst, t)
	return append(dst, '"')
}
