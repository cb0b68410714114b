package operator

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin/api"
	"teamdata/internal/hint"
	"teamdata/store"
)

// tail is a walk along the audit logs of orgs, oldest entries first, that can go on where
// an earlier one ended.
type tail struct {
	*session
	op         operation
	follow     bool
	cursorFile string  // empty: nothing is kept
	output     string  // path; empty: the standard output
	filter     object  // of the entries, without since
	since      any     // of a log without a position; nil: its beginning
	to         *tailed // the file of output; nil: the standard output

	at      map[string]store.Cursor // of the last entry of each org in lines, or saved
	lines   []byte                  // to be written
	broken  error                   // why lines could not be written; nil: they were
	failing bool                    // the server did not answer last
	saved   struct {
		at    map[string]store.Cursor // nil: nothing is saved
		bytes int64
	}
}

// Bounds of a tail.
const (
	tailWrite   = 256 << 10              // bytes that are written at once
	tailMerged  = 100_000                // entries of several orgs that are held to be merged
	tailEnds    = 1000                   // ends in a page
	tailPoll    = time.Second            // between two looks for new entries
	tailPace    = 200 * time.Millisecond // the same, for each page of ends: at most half of the server's --client-rate
	firstTailed = 250 * time.Millisecond // before a server that doesn't answer is asked again; then twice as long, and so on
	lastTailed  = 15 * time.Second
)

func addTail(r *resource) {
	t := tail{op: listAuditLog.without("until")}
	a := action{
		use: "tail", short: "Print the audit logs of all orgs as JSON lines, and follow them",
		long: `Prints one audit entry a line, as JSON with its orgId: those of all orgs, or of
--org. Within an org they are in the order of its log, and orgs are merged by
time. With --follow it goes on with what is added, and asks for that every
second. If the server is away, it waits until it is back.

With --cursor-file it goes on where the last one with this file ended. What was
printed after the position was saved last is printed again: each entry comes at
least once. With --output each comes exactly once, since the last lines of the
file tell what it has; its cursor file is FILE.cursor by default. A file that is
renamed, as by logrotate, is made anew.`,
		example:  "audit tail --since 24h\naudit tail --follow --cursor-file audit.cursor | shipper\naudit tail --follow --output /var/log/teamdata/audit.jsonl\naudit tail --org org_acme --action member.",
		connects: true,
		do: func(s *session) error {
			t.session = s
			return t.run()
		},
	}
	f := r.add(a).Flags()
	f.BoolVar(&t.follow, "follow", false, "go on with what is added, which needs a server")
	f.StringVar(&t.cursorFile, "cursor-file", "", "a `file` in which the position in each org's log is kept")
	f.StringVar(&t.output, "output", "", "append to a `file`, each entry exactly once")
	t.op.bind(f)
}

func (t *tail) run() error {
	ctx := t.cmd.Context()
	defer t.close()
	if err := t.load(); err != nil {
		return err
	}
	t.target.Served = t.follow
	err := t.start()
	for wait := firstTailed; ; {
		pages := 0
		if err == nil {
			pages, err = t.round()
		}
		pause := max(tailPoll, time.Duration(pages)*tailPace)
		switch {
		case err == nil && !t.follow:
			return nil
		case t.follow && ctx.Err() != nil:
			return nil
		case err == nil:
			if wait = firstTailed; t.failing {
				t.failing = false
				t.note("the server answers again")
			}
		case !t.follow || t.broken != nil || !isPassing(err):
			return err
		default:
			if !t.failing {
				t.failing = true
				why, _ := hint.Split(err)
				t.note("%s; trying again", why)
			}
			pause, wait = wait, min(2*wait, lastTailed)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		if err = nil; t.filter == nil {
			err = t.start()
		}
	}
}

// start connects, and reads the filter.
func (t *tail) start() error {
	if t.transport == nil {
		if err := t.connect(); err != nil {
			return err
		}
	}
	filter, err := t.session.filter(t.op)
	if err != nil {
		return err
	}
	t.since = filter["since"]
	delete(filter, "since")
	t.filter = filter
	return nil
}

// isPassing reports whether an error may be gone when the server is asked again.
func isPassing(err error) bool {
	refused, ok := errors.AsType[*teamdata.Error](err)
	return errors.Is(err, ErrNoServer) || errors.Is(err, teamdata.ErrNoAnswer) ||
		ok && (refused.Status >= 500 || refused.Status == http.StatusTooManyRequests)
}

// round writes the entries that there are when it begins, and returns how many pages of ends
// it read. What it has merged before an error is written, too.
func (t *tail) round() (pages int, err error) {
	if err := t.prepare(); err != nil {
		return 0, err
	}
	logs, pages, err := t.moved()
	if err == nil {
		err = t.merge(logs)
	}
	return pages, errors.Join(err, t.flush())
}

// orgLog is the part of an org's log that is being merged.
type orgLog struct {
	org     string
	end     store.Cursor // up to which it is read; zero: to its end
	entries []tailEntry  // read, and not merged yet
	read    store.Cursor // how far it is read
	done    bool         // nothing is to be read behind entries
}

type tailEntry struct {
	at   store.Cursor
	line []byte
}

// moved finds the logs that have entries after their positions.
func (t *tail) moved() (logs []*orgLog, pages int, err error) {
	if t.org != "" {
		return []*orgLog{{org: t.org, read: t.at[t.org]}}, 1, checkID(t.org)
	}
	list := teamdata.NewList[api.AuditLogEnd](t.transport, listAuditLogEnds.path).Limit(tailEnds)
	for page, err := range list.Pages(t.cmd.Context()) {
		if err != nil {
			return nil, pages, t.explain(listAuditLogEnds, err)
		}
		pages++
		for _, e := range page.Data {
			if e.End == nil {
				continue
			}
			end, ok := store.ParseCursor(*e.End)
			if !ok {
				return nil, pages, errForm
			}
			if at := t.at[e.OrgID]; at.Compare(end) < 0 {
				logs = append(logs, &orgLog{org: e.OrgID, end: end, read: at})
			}
		}
	}
	return logs, pages, nil
}

// merge adds the entries of logs to the lines, by time.
func (t *tail) merge(logs []*orgLog) error {
	limit := max(1, min(maxPage, tailMerged/max(1, len(logs))))
	var q tailQueue
	for _, l := range logs {
		if err := t.fill(l, limit); err != nil {
			return err
		}
		if len(l.entries) > 0 {
			q = append(q, l)
		}
	}
	heap.Init(&q)
	for len(q) > 0 {
		l := q[0]
		t.lines = append(t.lines, l.entries[0].line...)
		t.at[l.org] = l.entries[0].at
		l.entries = l.entries[1:]
		if err := t.fill(l, limit); err != nil {
			return err
		}
		if len(l.entries) > 0 {
			heap.Fix(&q, 0)
		} else {
			heap.Pop(&q)
		}
		if len(t.lines) >= tailWrite {
			if err := errors.Join(t.flush(), t.prepare()); err != nil {
				return err
			}
		}
	}
	return nil
}

// tailQueue has the logs with entries, that with the earliest one first.
type tailQueue []*orgLog

func (q tailQueue) Len() int           { return len(q) }
func (q tailQueue) Less(i, j int) bool { return q[i].entries[0].at.Compare(q[j].entries[0].at) < 0 }
func (q tailQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *tailQueue) Push(l any)        { *q = append(*q, l.(*orgLog)) }
func (q *tailQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// fill reads on in a log without entries, until it has some or is done. All that was
// read is merged then, so the position is as far as the filter has looked.
func (t *tail) fill(l *orgLog, limit int) error {
	for len(l.entries) == 0 {
		if !l.read.IsZero() {
			t.at[l.org] = l.read
		}
		if l.done {
			return nil
		}
		page, err := t.page(l, limit)
		if gone, ok := errors.AsType[*teamdata.Error](err); ok && gone.Code == teamdata.CodeNotFound && t.org == "" {
			l.done = true // the org was deleted
			return nil
		}
		if err != nil {
			return err
		}
		for _, item := range page.Data {
			e, err := newTailEntry(l.org, item)
			if err != nil {
				return err
			}
			l.entries = append(l.entries, e)
		}
		if next, ok := store.ParseCursor(page.Next); ok {
			l.read = next
		}
		l.done = !page.HasMore || !l.end.IsZero() && l.read.Compare(l.end) >= 0
	}
	return nil
}

// page reads a page of a log from where it is read.
func (t *tail) page(l *orgLog, limit int) (page teamdata.Page[json.RawMessage], err error) {
	list := teamdata.NewList[json.RawMessage](t.transport, strings.ReplaceAll(t.op.path, "{org}", url.PathEscape(l.org))).Limit(limit)
	for name, value := range t.filter {
		list = list.With(name, fmt.Sprint(value))
	}
	if l.read.IsZero() && t.since != nil {
		list = list.With("since", fmt.Sprint(t.since))
	} else if !l.read.IsZero() {
		list = list.After(l.read.String())
	}
	for page, err = range list.Pages(t.cmd.Context()) {
		break
	}
	return page, t.explain(t.op, err)
}

// newTailEntry makes the line of an entry.
func newTailEntry(org string, item json.RawMessage) (tailEntry, error) {
	line := append(append([]byte(`{"orgId":`), store.AppendJSONString(nil, org)...), ',')
	if len(item) < 2 || item[0] != '{' {
		return tailEntry{}, errForm
	}
	line = append(append(line, item[1:]...), '\n')
	_, at, ok := positionInLine(line)
	if !ok {
		return tailEntry{}, errForm
	}
	return tailEntry{at, line}, nil
}

// positionInLine reads where a line belongs.
func positionInLine(line []byte) (org string, at store.Cursor, ok bool) {
	var e struct {
		OrgID, ID string
		CreatedAt time.Time
	}
	ok = json.Unmarshal(line, &e) == nil && e.OrgID != "" && e.ID != "" && !e.CreatedAt.IsZero()
	return e.OrgID, store.CursorOf(e.CreatedAt, e.ID), ok
}

// flush writes the lines, and saves up to where they are. After a failure nothing more is
// written: some of the lines may be there, which the next run sees.
func (t *tail) flush() error {
	if t.broken != nil {
		return nil // it is told already
	}
	if t.broken = t.write(); t.broken != nil {
		return t.broken
	}
	t.lines = t.lines[:0]
	return t.save()
}

func (t *tail) write() error {
	if t.to != nil {
		return t.to.append(t.lines)
	}
	if len(t.lines) == 0 {
		return nil
	}
	return t.out.part(string(t.lines))
}

// place names what a tail reads from, without a password.
func (t Target) place() string {
	switch u, err := url.Parse(t.Data); {
	case t.Server != "":
		return t.Server
	case t.Socket != "":
		return absolute(t.Socket)
	case err == nil && strings.HasPrefix(u.Scheme, "postgres"):
		return u.Scheme + "://" + u.Host + u.Path
	}
	return absolute(t.Data)
}

func absolute(path string) string {
	if all, err := filepath.Abs(path); err == nil {
		return all
	}
	return path
}
