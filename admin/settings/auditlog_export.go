package settings

import (
	"net/http"
	"strings"
	"time"

	"teamdata/store"
)

const (
	exportChunk = 500              // entries that are read in one transaction
	exportWrite = 30 * time.Second // how long a client may take to receive one chunk
)

// auditExport is a walk through the audit log, oldest first, up to the entry that
// was the last when it began.
type auditExport struct {
	r      *request
	filter store.AuditFilter
	name   string // of the format
	format exportFormat
	after  store.Cursor // of the last entry that was read
	last   store.Cursor // of the last entry when the export began
	done   bool
	body   []byte // to be sent next
}

// exportFormat is a file format of an export.
type exportFormat struct {
	contentType string
	header      string // before the first entry
	add         func(dst []byte, e store.AuditEntry) []byte
}

var exportFormats = map[string]exportFormat{
	"csv":   {"text/csv; charset=utf-8; header=present", csvHeader, appendCSV},
	"jsonl": {"application/jsonl; charset=utf-8", "", appendJSONLine},
}

func appendJSONLine(dst []byte, e store.AuditEntry) []byte { return append(e.AppendJSON(dst), '\n') }

// exportAuditLog sends all entries that match the filter as a file, however many
// there are. Each chunk is a separate transaction, which authorizes the request
// again. If that fails, the connection is aborted, so that a partial file can't
// pass for a complete one.
func (r *request) exportAuditLog() error {
	query := r.HTTP.URL.Query()
	x := &auditExport{r: r, name: query.Get("format")}
	filter := auditFilterOf(query)
	if err := r.View(func(tx store.Tx) error { return x.begin(tx, filter) }); err != nil {
		return err
	}
	if err := r.viewAudited(func(tx store.Tx) error { return store.AuditExport(tx, r.actor(), r.Org.ID) }); err != nil {
		return err
	}
	x.setHeaders()
	for x.send() && !x.done {
		if err := r.View(x.next); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}

// begin reads the parameters of the request, and the first chunk.
func (x *auditExport) begin(tx store.Tx, filter auditFilter) (err error) {
	var ok bool
	if x.format, ok = exportFormats[x.name]; !ok {
		return store.Invalid("format", "must be csv or jsonl")
	}
	if x.filter, err = filter.parse(x.r, tx); err != nil {
		return err
	}
	latest, err := tx.AuditPageBefore(x.r.Org.ID, store.Cursor{}, 1, nil)
	if err != nil {
		return err
	}
	x.after, x.last = x.filter.Begin(), latest.Last
	x.body = append(x.body, x.format.header...)
	return x.next(tx)
}

// next reads one chunk, and appends the entries that match to body.
func (x *auditExport) next(tx store.Tx) error {
	page, err := tx.AuditPage(x.r.Org.ID, x.after, exportChunk, []byte{'['})
	if err != nil {
		return err
	}
	entries, err := store.AuditEntries(page)
	for _, e := range entries {
		if x.isAfterEnd(e) {
			x.done = true
			return nil
		}
		if x.filter.Matches(e) {
			x.body = x.format.add(x.body, e)
		}
	}
	x.after, x.done = page.Last, !page.More
	return err
}

// isAfterEnd reports whether an entry, and so all that follow, is after the end of the
// export.
func (x *auditExport) isAfterEnd(e store.AuditEntry) bool {
	return entryPosition(e).Compare(x.last) > 0 || x.filter.EndsBefore(e.CreatedAt)
}

func (x *auditExport) setHeaders() {
	name := "audit-log-" + x.r.Org.ID + x.r.Now.UTC().Format("-20060102-150405.") + x.name
	h := x.r.W.Header()
	h.Set("Content-Type", x.format.contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	x.r.Status = http.StatusOK
}

// send sends body, and reports whether the client takes more.
func (x *auditExport) send() bool {
	// Where no deadline can be set, the server's own ends the export sooner.
	_ = http.NewResponseController(x.r.W).SetWriteDeadline(time.Now().Add(exportWrite))
	_, err := x.r.W.Write(x.body)
	x.body = x.body[:0]
	return err == nil && x.r.HTTP.Method != http.MethodHead
}

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

// csvText returns a value between its quotes. A spreadsheet would run a value
// that looks like a formula; a leading apostrophe makes it text.
func csvText(value string) string {
	if value != "" && strings.Contains("=+-@\t\r", value[:1]) {
		value = "'" + value
	}
	return strings.ReplaceAll(value, `"`, `""`)
}
