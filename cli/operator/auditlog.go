package operator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func auditCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "audit", "Read an org's audit log, and add entries to it")
	var ofServer bool
	list := action{
		use: "list", short: "List the audit log, oldest first",
		example: "audit list\naudit list --actor usr_ada --since 24h\naudit list --action member. --target usr_bob --json\naudit list --operator",
		op:      listAuditLog,
		columns: columns{"ENTRY", "id", "WHEN", "createdAt", "ACTION", "action", "ACTOR", "actorId", "TARGET", "targetId"},
		none:    "no such audit entries",
	}
	list.do = func(s *session) error {
		if ofServer {
			list.op = listOperatorLog
		}
		return s.list(&list)
	}
	listing := r.add(list).Flags()
	listing.BoolVar(&ofServer, "operator", false, "list what was done to the server: orgs, plans, event types and operator tokens")
	list.op.bind(listing)
	addTail(r)
	var file string
	add := action{
		use: "add", short: "Add audit entries",
		long: `Adds one entry, or with --file all entries of a file. The file has one JSON
object on each line, with an action and, where they apply, actorId and
targetId. --actor fills in a missing actorId. Entries are sent in batches of
1,000, and each batch is stored completely or not at all.

With --idempotency-key KEY the batches have the keys KEY-1, KEY-2 and so on. If
the command is interrupted and run again with the same file, no entry is added
twice.`,
		example: "audit add --action invoice.paid --target-id inv_1 --actor usr_ada\naudit add --file entries.jsonl --idempotency-key july\naudit add --file - < entries.jsonl",
		op:      addAuditEntry.without("actorId"),
	}
	add.do = func(s *session) error {
		if file != "" {
			return s.upload(file)
		}
		return s.ask(&add, add.op.fieldsSet(s.cmd.Flags()))
	}
	cmd := r.add(add)
	add.op.bind(cmd.Flags())
	cmd.Flags().StringVar(&file, "file", "", "a `file` with an entry on each line; - is the standard input")
	cmd.MarkFlagsOneRequired("action", "file")
	cmd.MarkFlagsMutuallyExclusive("action", "file")
	cmd.MarkFlagsMutuallyExclusive("target-id", "file")
	return r.Command
}

// Bounds of a file of entries. A body may have 8 MiB.
const (
	maxBatchBytes = 7 << 20
	maxLine       = 1 << 20
)

const oneALine = "a file of entries has one JSON object on each line"

// upload is a file of entries that is being sent, a batch at a time.
type upload struct {
	batches
	*terminal.Progress
	file    string
	entries []json.RawMessage // of the batch
	lines   []int             // of the file, of each of these
	bytes   int               // of these
	added   int
}

// upload adds all entries of a file.
func (s *session) upload(file string) error {
	in, err := openInput(s.cmd, "file", file)
	if err != nil {
		return err
	}
	defer in.Close()
	u := &upload{batches: s.batches(), file: nameOf(file), Progress: terminal.StartProgress(s.cmd.ErrOrStderr(), "adding entries")}
	err = u.sendLines(in)
	u.Stop()
	switch {
	case err != nil && u.added > 0:
		return hint.With(err, "the "+terminal.Count(u.added, "entry")+" before it were added")
	case err != nil:
		return err
	case u.added == 0:
		return hint.New("there is no entry in "+u.file, oneALine)
	}
	return s.printDone("added %s", terminal.Count(u.added, "audit entry"))
}

func (u *upload) sendLines(in io.Reader) error {
	text, err := withoutMark(u.file, in)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		entry := lines.Bytes()
		switch at := invalidAt(entry); {
		case len(entry) == 0:
			continue
		case at >= 0:
			return hint.New(fmt.Sprintf("%s line %d, byte %d: is not valid UTF-8", u.file, number, at+1), saveAsUTF8)
		case !json.Valid(entry):
			return hint.New(fmt.Sprintf("%s line %d: is not JSON", u.file, number), oneALine)
		case len(u.entries) == maxBatch || u.bytes+len(entry) > maxBatchBytes:
			if err := u.send(); err != nil {
				return err
			}
		}
		u.entries, u.lines = append(u.entries, bytes.Clone(entry)), append(u.lines, number)
		u.bytes += len(entry)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return hint.New(fmt.Sprintf("%s line %d: is longer than %d bytes", u.file, number+1, maxLine), oneALine)
	case err != nil:
		return fmt.Errorf("%s: %w", u.file, err)
	}
	return u.send()
}

// send adds a batch, and prints what was asked for: the answer, or the ids.
func (u *upload) send() error {
	if len(u.entries) == 0 {
		return nil
	}
	var answered api.Ids
	answer, err := u.batches.send(addAuditEntries, object{"entries": u.entries}, &answered)
	if err != nil {
		return errorInFile(err, u.place)
	}
	u.added += len(u.entries)
	u.entries, u.lines, u.bytes = nil, nil, 0
	u.Describe(terminal.Count(u.added, "entry"))
	switch {
	case u.json:
		return u.out.text(string(answer))
	case u.quiet:
		return u.out.ids(answered.Ids)
	}
	return nil
}

// place is a place of the batch in the file.
func (u *upload) place(i int, field string) string {
	place := fmt.Sprintf("%s line %d", u.file, u.lines[min(i, len(u.lines)-1)])
	if field != "" {
		place += ": " + field
	}
	return place
}
