package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func memberImportCommand(r *resource) {
	var dryRun bool
	cmd := r.add(action{
		use: "import FILE", short: "Add and update members from a CSV file", args: oneFile,
		long: `Adds the users in a CSV file to an org, and updates those who are already
members. Nobody is removed. The first line names the columns, in any order:
userId, role and, if you have them, others such as name and email. An empty
cell clears the value; a missing column leaves it as it is.

The whole file is checked before anything is sent. With --dry-run nothing is
changed, and the command prints what would be. Members are sent in batches of
1,000, and each batch is stored completely or not at all. Owners are sent
first, so that one owner can hand over to another anywhere in the file. An
interrupted import can be run again: members who are up to date are left alone,
without an audit entry or an event.`,
		example: "member import people.csv --dry-run\nmember import people.csv --actor usr_ada\nmember import - --json < people.csv",
		do:      func(s *session) error { return s.importMembers(s.args[0], dryRun) },
	})
	cmd.ValidArgsFunction = nil // the shell completes files
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing, and print what would be added and changed")
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return SeeHelp(cmd, errors.New("takes one argument, the path of a CSV file or - for the standard input"))
	}
	return nil
}

// reportErrors prints what is wrong with a file, and returns an error that says so.
func (s *session) reportErrors(p *people) error {
	const advice = "nothing was imported; correct the file and run it again"
	switch {
	case p.errors == 0 && p.members == 0:
		return hint.New(p.name+" has no members", "write one on each line, below the line that names the columns")
	case p.errors == 0:
		return nil
	case p.errors == 1:
		return hint.With(p.wrong[0], advice)
	}
	for _, wrong := range p.wrong {
		s.note("%v", wrong)
	}
	if more := p.errors - len(p.wrong); more > 0 {
		s.note("… and %d more", more)
	}
	return hint.New(fmt.Sprintf("%s has %d errors", p.name, p.errors), advice)
}

// imported is what was done, or in a dry run would be. What is printed of those that are not
// unchanged is printed with each batch.
type imported struct {
	dryRun                    bool
	added, changed, unchanged int
	table                     *terminal.Table
	some                      bool // members were printed
}

func (s *session) importMembers(file string, dryRun bool) error {
	in, err := openFile(s.cmd, file)
	if err != nil {
		return err
	}
	defer in.Close()
	again, discard, err := rereadable(in)
	if err != nil {
		return err
	}
	defer discard()
	p, err := readPeople(nameOf(file), again)
	if err != nil {
		return err
	}
	if err := s.reportErrors(p); err != nil {
		return err
	}
	done := &imported{dryRun: dryRun, table: &terminal.Table{To: s.out.to, Width: s.out.width, Titles: []string{"RESULT", "USER"}}}
	for _, name := range memberColumns[1:] {
		done.table.Titles = append(done.table.Titles, strings.ToUpper(name))
	}
	progress := terminal.StartProgress(s.cmd.ErrOrStderr(), "importing members")
	err = s.sendPeople(p, done, progress)
	progress.Stop()
	err = errors.Join(err, s.showImported(done, err != nil))
	if n := done.added + done.changed + done.unchanged; err != nil && n > 0 && !dryRun {
		return hint.With(err, fmt.Sprintf("%d of %d members are imported; run it again to go on", n, p.members))
	}
	return err
}

// rereadable returns an input that can be read several times: a file as it is, and
// anything else, such as a pipe, from a temporary file.
func rereadable(in io.Reader) (again io.ReadSeeker, discard func(), err error) {
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, func() {}, nil
		}
	}
	temp, err := os.CreateTemp("", "teamdata-members-*.csv")
	if err != nil {
		return nil, nil, err
	}
	discard = func() { temp.Close(); os.Remove(temp.Name()) }
	if _, err := io.Copy(temp, io.LimitReader(in, maxPeople+1)); err != nil {
		discard()
		return nil, nil, err
	}
	return temp, discard, nil
}

// sendPeople sends owners before all others. Then no batch demotes the last owner before
// another one is named.
func (s *session) sendPeople(p *people, done *imported, progress *terminal.Progress) error {
	b, sent := s.batches(), 0
	batch := make([]person, 0, maxBatch)
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := s.sendBatch(&b, p, batch, done)
		sent += len(batch)
		batch = batch[:0]
		progress.Report(int64(sent), int64(p.members))
		return err
	}
	for _, owners := range []bool{true, false} {
		if owners && p.owners == 0 {
			continue
		}
		err := p.each(func(of person) error {
			if of.isOwner() != owners {
				return nil
			}
			if batch = append(batch, of); len(batch) < maxBatch {
				return nil
			}
			return send()
		})
		if err != nil {
			return err
		}
	}
	return send()
}

func (s *session) sendBatch(b *batches, p *people, some []person, done *imported) error {
	members := make([]object, len(some))
	for i := range some {
		members[i] = p.fields(some[i])
	}
	var answered struct{ Members []json.RawMessage }
	_, err := b.send(addMembers, object{"members": members, "upsert": true, "dryRun": done.dryRun}, &answered)
	if err != nil {
		return errorInFile(err, func(i int, field string) string { return p.at(some[min(i, len(some)-1)].line, field) })
	}
	var rows [][]string
	for _, item := range answered.Members {
		row, err := s.countOutcome(item, done)
		if err != nil {
			return err
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return nil
	}
	return done.table.Print(rows...)
}

// countOutcome counts what became of a member, and prints what is asked for of it, or returns the
// row of a table with it.
func (s *session) countOutcome(item json.RawMessage, d *imported) (row []string, err error) {
	var o struct {
		Result      api.MemberOutcomeResult
		Member, Was json.RawMessage
	}
	if json.Unmarshal(item, &o) != nil {
		return nil, errForm
	}
	switch o.Result {
	case api.MemberOutcomeResultAdded:
		d.added++
	case api.MemberOutcomeResultChanged:
		d.changed++
	default:
		d.unchanged++
		return nil, nil
	}
	switch {
	case s.json:
		before := ","
		if !d.some {
			before = importedBegin
		}
		d.some = true
		return nil, s.out.part(before + string(item))
	case !s.quiet && !d.dryRun:
		return nil, nil
	}
	var m, was record
	if json.Unmarshal(o.Member, &m) != nil || o.Was != nil && json.Unmarshal(o.Was, &was) != nil {
		return nil, errForm
	}
	if s.quiet {
		return nil, s.out.ids([]string{m.find("userId")})
	}
	row = []string{string(o.Result), m.find("userId")}
	for _, name := range memberColumns[1:] {
		text := orDash(m.find(name))
		if before := orDash(was.find(name)); was != nil && before != text {
			text = before + " → " + text
		}
		row = append(row, text)
	}
	return row, nil
}

// importedBegin is how the JSON of an import begins.
const importedBegin = `{"members":[`

// showImported prints the counts; of an import that failed only those that complete the JSON.
func (s *session) showImported(d *imported, failed bool) error {
	switch {
	case s.json && (d.some || !failed):
		before := ""
		if !d.some {
			before = importedBegin
		}
		return s.out.text(fmt.Sprintf(`%s],"dryRun":%t,"added":%d,"changed":%d,"unchanged":%d}`, before, d.dryRun, d.added, d.changed, d.unchanged))
	case s.json, s.quiet, failed:
		return nil
	case d.dryRun:
		s.note("%s would be added, %d changed, and %d left as they are; this was a dry run", terminal.Count(d.added, "member"), d.changed, d.unchanged)
		return nil
	}
	return s.printDone("added %s, changed %d, left %d as they are", terminal.Count(d.added, "member"), d.changed, d.unchanged)
}
