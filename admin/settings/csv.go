package settings

import (
	"strings"

	"teamdata/store"
)

// csvHeader is the first line of an export as CSV.
const csvHeader = "\"createdAt\",\"id\",\"actorId\",\"action\",\"targetId\"\r\n"

// appendCSV appends an entry as a line of CSV (RFC 4180).
func appendCSV(dst []byte, e store.AuditEntry) []byte {
	for i, value := range []string{store.FormatTime(e.CreatedAt), e.ID, e.ActorID, e.Action, e.TargetID} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), csvText(value)...), '"')
	}
	return append(dst, "\r\n"...)
}

// csvText is a value between its quotes. A spreadsheet takes one that begins like
// a formula for one, and runs it; an apostrophe before it makes it text.
func csvText(value string) string {
	if value != "" && strings.Contains("=+-@\t\r", value[:1]) {
		value = "'" + value
	}
	return strings.ReplaceAll(value, `"`, `""`)
}
