package operator

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/store"
)

func memberImportCommand(r *resource) {
	var dryRun bool
	cmd := r.add(action{
		use: "import FILE", short: "Add and update members from a CSV file", args: oneFile,
		long: `Import adds the users of a CSV file to an org, and updates those who are members
already. Nobody is removed. The first line names the columns: userId and role, and
name and email if you have them, in any order. An empty cell clears a name or an
address; without their columns, names and addresses stay as they are.

The whole file is checked before anything is sent. With --dry-run nothing is changed,
and the command prints what would be. Members are sent in batches of 1,000; each
batch is stored whole or not at all. Owners are sent first, so that one may hand over to
another anywhere in the file. A command that was interrupted can be run again: members
who are up to date are left as they are, without an audit entry or an event.`,
		example: "member import people.csv --dry-run\nmember import people.csv --actor usr_ada\nmember import - --json < people.csv",
		route:   "POST /orgs/{org}/members/batch",
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

// memberColumns are the columns that a file may have; the first two it must.
var memberColumns = []string{"userId", "role", "name", "email"}

const (
	headerHint  = "the first line names the columns: userId and role, and name and email if you have them"
	maxPeople   = 256 << 20 // bytes of a file
	maxReported = 20        // errors of a file that are named
)

// people is a CSV file of members.
type people struct {
	file    string
	columns []int // where each of memberColumns is, from 0; -1: it is not there
	members []person
	wrong   []error
}

// person is a line of the file, with a value for each of memberColumns.
type person struct {
	line   int
	values [4]string
}

// fields are a person as the API takes it: without the columns that are not there.
func (p *people) fields(of person) object {
	body := object{}
	for i, name := range memberColumns {
		if p.columns[i] >= 0 {
			body[name] = of.values[i]
		}
	}
	return body
}

// ownersFirst puts owners before all others. Then no batch demotes the last owner before
// another one is named.
func (p *people) ownersFirst() {
	rank := func(of person) int {
		if of.values[1] == store.RoleOwner {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(p.members, func(a, b person) int { return rank(a) - rank(b) })
}

// at is a place of the file; a column by its name, or none.
func (p *people) at(line int, column string) string {
	place := fmt.Sprintf("%s line %d", p.file, line)
	if i := slices.Index(memberColumns, column); i >= 0 && p.columns[i] >= 0 {
		place += fmt.Sprintf(", column %d (%s)", p.columns[i]+1, column)
	}
	return place
}

// readPeople reads and checks a whole file. The error is why it can't be read at
// all; what is wrong with its lines is in wrong.
func readPeople(name string, in io.Reader) (*people, error) {
	p := &people{file: name, columns: []int{-1, -1, -1, -1}}
	limited := &io.LimitedReader{R: in, N: maxPeople + 1}
	text := bufio.NewReader(limited)
	switch mark, _ := text.Peek(3); { // of the order of bytes, with which Excel begins a file
	case string(mark) == "\ufeff":
		text.Discard(len(mark))
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, hint.New(name+" is UTF-16", "save it as CSV in UTF-8")
	}
	lines := csv.NewReader(text)
	lines.ReuseRecord = true
	header, err := lines.Read()
	if err == io.EOF {
		return nil, hint.New(name+" is empty", headerHint)
	}
	if err == nil {
		err = p.readHeader(header)
	}
	seen := map[string]int{} // line of each user
	for err == nil {
		var cells []string
		if cells, err = lines.Read(); err == nil {
			line, _ := lines.FieldPos(0)
			p.readLine(line, cells, seen)
		}
	}
	var form *csv.ParseError
	switch {
	case limited.N == 0:
		return nil, hint.New(fmt.Sprintf("%s has more than %d bytes", name, maxPeople), "split it into several files")
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &form):
		return nil, fmt.Errorf("%s line %d: has a different number of columns from the first line, which has %d", name, form.Line, len(header))
	case errors.As(err, &form):
		return nil, hint.New(fmt.Sprintf("%s line %d, character %d: is not CSV (%v)", name, form.Line, form.Column, form.Err),
			`put text with a comma or a quote in quotes, and write a quote in it twice: "Ada ""Countess"" Lovelace"`)
	case err != io.EOF:
		return nil, err
	}
	return p, nil
}

// readHeader finds the columns by their names, whatever their case: User ID and
// user_id are userId.
func (p *people) readHeader(header []string) error {
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
	}
	for i, name := range header {
		name = strings.TrimSpace(name)
		column := slices.IndexFunc(memberColumns, func(known string) bool { return plain(known) == plain(name) })
		place := fmt.Sprintf("%s line 1, column %d", p.file, i+1)
		switch {
		case column < 0 && strings.Contains(name, ";"):
			return hint.New(place+": the columns are separated by semicolons", "separate them by commas")
		case column < 0:
			return hint.New(fmt.Sprintf("%s: %.40q is not a column of members", place, name), "there are "+strings.Join(memberColumns, ", ")+"; leave out the others")
		case p.columns[column] >= 0:
			return fmt.Errorf("%s: %s is there twice, first in column %d", place, memberColumns[column], p.columns[column]+1)
		}
		p.columns[column] = i
	}
	for i, name := range memberColumns[:2] {
		if p.columns[i] < 0 {
			return hint.New(fmt.Sprintf("%s line 1: the column %s is missing", p.file, name), headerHint)
		}
	}
	return nil
}

func (p *people) readLine(line int, cells []string, seen map[string]int) {
	of := person{line: line}
	for i, column := range p.columns {
		if column >= 0 {
			of.values[i] = strings.TrimSpace(cells[column])
		}
	}
	m := store.Member{UserID: of.values[0], Role: of.values[1], Name: of.values[2], Email: of.values[3]}
	err := m.Check()
	if first, twice := seen[m.UserID]; twice && err == nil {
		err = store.Invalid("userId", "%s is on line %d already", m.UserID, first)
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		p.wrong = append(p.wrong, fmt.Errorf("%s: %s", p.at(line, e.Field), e.Text()))
	}
	seen[m.UserID] = line
	p.members = append(p.members, of)
}

// refused prints what is wrong with a file, and returns an error that says so.
func (s *session) refused(p *people) error {
	const advice = "nothing was imported; correct the file and run it again"
	switch n := len(p.wrong); {
	case n == 0 && len(p.members) == 0:
		return hint.New(p.file+" has no members", "write one a line, after the line that names the columns")
	case n == 0:
		return nil
	case n == 1:
		return hint.With(p.wrong[0], advice)
	}
	for _, err := range p.wrong[:min(len(p.wrong), maxReported)] {
		s.note("%v", err)
	}
	if more := len(p.wrong) - maxReported; more > 0 {
		s.note("… and %d more", more)
	}
	return hint.New(fmt.Sprintf("%s has %d errors", p.file, len(p.wrong)), advice)
}

// memberOutcome is what a batch answers about a member.
type memberOutcome struct {
	Result string
	Member struct{ UserID, Role, Name, Email string }
	Was    *struct{ Role, Name, Email string }
}

// imported is what was done, or in a dry run would be.
type imported struct {
	DryRun    bool `json:"dryRun"`
	Added     int  `json:"added"`
	Changed   int  `json:"changed"`
	Unchanged int  `json:"unchanged"`
	// What is printed of those that are not unchanged, which is one of these.
	Members []json.RawMessage `json:"members"`
	rows    [][]string
	users   []string
}

func (s *session) importMembers(file string, dryRun bool) error {
	in, err := openFile(s.cmd, file)
	if err != nil {
		return err
	}
	defer in.Close()
	p, err := readPeople(nameOf(file), in)
	if err != nil {
		return err
	}
	if err := s.refused(p); err != nil {
		return err
	}
	p.ownersFirst()
	done := &imported{DryRun: dryRun, Members: []json.RawMessage{}}
	progress := terminal.StartProgress(s.cmd.ErrOrStderr(), "importing members")
	err = s.sendPeople(p, done, progress)
	progress.Stop()
	if n := done.Added + done.Changed + done.Unchanged; err != nil && n > 0 && !dryRun {
		return hint.With(err, fmt.Sprintf("%d of %d members are imported; run it again to go on", n, len(p.members)))
	}
	if err != nil {
		return err
	}
	return s.showImported(done)
}

func (s *session) sendPeople(p *people, done *imported, progress *terminal.Progress) error {
	b := s.batches()
	for from := 0; from < len(p.members); from += maxBatch {
		some := p.members[from:min(from+maxBatch, len(p.members))]
		batch := make([]object, len(some))
		for i := range some {
			batch[i] = p.fields(some[i])
		}
		var answered struct{ Members []json.RawMessage }
		_, err := b.send("POST /orgs/{org}/members/batch", object{"members": batch, "upsert": true, "dryRun": done.DryRun}, &answered)
		if err != nil {
			return placed(err, func(i int, field string) string { return p.at(some[min(i, len(some)-1)].line, field) })
		}
		for _, item := range answered.Members {
			if err := s.add(item, done); err != nil {
				return err
			}
		}
		progress.Report(int64(from+len(some)), int64(len(p.members)))
	}
	return nil
}

// add counts what became of a member, and keeps what will be printed of it.
func (s *session) add(item json.RawMessage, d *imported) error {
	var o memberOutcome
	if err := json.Unmarshal(item, &o); err != nil {
		return errForm(err)
	}
	m, was := o.Member, o.Was
	if was == nil {
		was = &struct{ Role, Name, Email string }{m.Role, m.Name, m.Email}
	}
	switch o.Result {
	case "added":
		d.Added++
	case "changed":
		d.Changed++
	default:
		d.Unchanged++
		return nil
	}
	switch {
	case s.json:
		d.Members = append(d.Members, item)
	case s.quiet:
		d.users = append(d.users, m.UserID)
	case d.DryRun:
		d.rows = append(d.rows, []string{o.Result, m.UserID, changed(was.Role, m.Role), changed(was.Name, m.Name), changed(was.Email, m.Email)})
	}
	return nil
}

// changed shows a value, and what it was before if that differs.
func changed(from, to string) string {
	to = orDash(terminal.Plain(to))
	if from = orDash(terminal.Plain(from)); from != to {
		return from + " → " + to
	}
	return to
}

func (s *session) showImported(done *imported) error {
	switch {
	case s.json:
		text, err := json.Marshal(done)
		if err != nil {
			return err
		}
		return s.out.json(text)
	case s.quiet:
		return s.out.ids(done.users)
	case done.DryRun && len(done.rows) > 0:
		t := terminal.Table{To: s.out.to, Width: s.out.width, Titles: []string{"RESULT", "USER", "ROLE", "NAME", "EMAIL"}}
		if err := t.Print(done.rows...); err != nil {
			return err
		}
	}
	if done.DryRun {
		s.note("%s would be added, %d changed, and %d left as they are; this was a dry run", terminal.Count(done.Added, "member"), done.Changed, done.Unchanged)
		return nil
	}
	return s.said("added %s, changed %d, left %d as they are", terminal.Count(done.Added, "member"), done.Changed, done.Unchanged)
}
