package operator

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"teamdata/internal/hint"
	"teamdata/store"
)

// memberColumns are the columns that a file may have; the first two it must.
var memberColumns = namesOf(new(store.Member).Texts())

func namesOf(texts []store.NamedText) (names []string) {
	for _, t := range texts {
		names = append(names, t.Name)
	}
	return names
}

const (
	headerHint  = "the first line names the columns: userId and role, and others, such as name and email, if you have them"
	maxPeople   = 256 << 20 // bytes of a file
	maxReported = 20        // errors of a file that are named
)

// people is a CSV file of members. It is read once to be checked, and again to be sent, so
// that its size takes no memory.
type people struct {
	name    string
	file    io.ReadSeeker
	columns []int // where each of memberColumns is, from 0; -1: it is not there
	members int
	owners  int
	wrong   []error // the first ones
	errors  int     // all of them
}

// person is a line of the file, with a value for each of memberColumns.
type person struct {
	line   int
	values []string
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

// at is a place of the file; a column by its name, or none.
func (p *people) at(line int, column string) string {
	place := fmt.Sprintf("%s line %d", p.name, line)
	if i := slices.Index(memberColumns, column); i >= 0 && p.columns[i] >= 0 {
		place += fmt.Sprintf(", column %d (%s)", p.columns[i]+1, column)
	}
	return place
}

// readPeople checks a whole file. The error is why it can't be read at all; what is wrong
// with its lines is in wrong.
//
// Of a user only a hash is kept: the users themselves would take more memory than all else
// of an import. Of 37 million files with a million users, one has two with the same hash
// and is refused; the seed is another one each time.
func readPeople(name string, file io.ReadSeeker) (*people, error) {
	p, seed, lines := &people{name: name, file: file}, maphash.MakeSeed(), map[uint64]int32{}
	err := p.each(func(of person) error {
		p.members++
		if of.isOwner() {
			p.owners++
		}
		user := maphash.String(seed, of.values[0])
		first, twice := lines[user]
		err := of.check()
		if err == nil && twice {
			err = store.Invalid("userId", "%s is on line %d already", of.values[0], first)
		}
		if err != nil {
			p.refuse(of.line, err)
		}
		if !twice {
			lines[user] = int32(of.line)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (of person) isOwner() bool { return of.values[1] == store.RoleOwner }

func (of person) check() error {
	var m store.Member
	for i, t := range m.Texts() {
		*t.Text = of.values[i]
	}
	return m.Check()
}

// refuse counts an error of a line, and keeps it if it is one of the first.
func (p *people) refuse(line int, err error) {
	if e, ok := errors.AsType[*store.Error](err); ok {
		err = fmt.Errorf("%s: %s", p.at(line, e.Field), e.Text())
	}
	if p.errors++; p.errors <= maxReported {
		p.wrong = append(p.wrong, err)
	}
}

// each reads the file from its beginning, and calls fn with each line of it.
func (p *people) each(fn func(person) error) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	limited := &io.LimitedReader{R: p.file, N: maxPeople + 1}
	text, err := withoutMark(p.name, limited)
	if err != nil {
		return err
	}
	skipped, err := p.begin(text)
	if err != nil {
		return err
	}
	lines := csv.NewReader(text)
	lines.ReuseRecord = true
	header, err := lines.Read()
	if err == io.EOF {
		return hint.New(p.name+" is empty", headerHint)
	}
	if err == nil {
		err = p.readHeader(header, 1+skipped)
	}
	for err == nil {
		var cells []string
		if cells, err = lines.Read(); err == nil && strings.Join(cells, "") != "" { // spreadsheets write lines of commas
			line, _ := lines.FieldPos(0)
			err = fn(p.person(line+skipped, cells))
		}
	}
	var form *csv.ParseError
	switch {
	case limited.N == 0:
		return hint.New(fmt.Sprintf("%s has more than %d bytes", p.name, maxPeople), "split it into several files")
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &form):
		return fmt.Errorf("%s line %d: has a different number of columns from the first line, which has %d", p.name, form.Line+skipped, len(header))
	case errors.As(err, &form):
		return hint.New(fmt.Sprintf("%s line %d, character %d: is not CSV (%v)", p.name, form.Line+skipped, form.Column, form.Err),
			`put text with a comma or a quote in quotes, and write a quote in it twice: "Ada ""Countess"" Lovelace"`)
	case err != io.EOF:
		return err
	}
	return nil
}

// separatorLine begins a file that tells Excel its separator.
const separatorLine = "sep=,"

// begin reads what stands before the header, and returns how many lines that is.
func (p *people) begin(text *bufio.Reader) (lines int, err error) {
	first, _ := text.Peek(text.Size())
	first, _, _ = bytes.Cut(first, []byte("\n"))
	switch first = bytes.TrimSuffix(first, []byte("\r")); {
	case bytes.ContainsRune(first, '\r'):
		return 0, hint.New(p.name+" ends its lines with CR alone, as old Macs do", "save it with LF, or CR and LF")
	case strings.EqualFold(string(first), separatorLine):
		_, err = text.ReadSlice('\n')
		return 1, err
	}
	return 0, nil
}

// readHeader finds the columns by their names, whatever their case: User ID and
// user_id are userId.
func (p *people) readHeader(header []string, line int) error {
	p.columns = slices.Repeat([]int{-1}, len(memberColumns))
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name))
	}
	for i, name := range header {
		place := fmt.Sprintf("%s line %d, column %d", p.name, line, i+1)
		for separator, called := range map[string]string{";": "semicolons", "\t": "tabs"} {
			if strings.Contains(name, separator) {
				return hint.New(place+": the columns are separated by "+called, "separate them by commas")
			}
		}
		name = strings.TrimSpace(name)
		column := slices.IndexFunc(memberColumns, func(known string) bool { return plain(known) == plain(name) })
		switch {
		case column < 0:
			return hint.New(fmt.Sprintf("%s: %.40q is not a column of members", place, name), "there are "+strings.Join(memberColumns, ", ")+"; leave out the others")
		case p.columns[column] >= 0:
			return fmt.Errorf("%s: %s is given twice, first in column %d", place, memberColumns[column], p.columns[column]+1)
		}
		p.columns[column] = i
	}
	for i, name := range memberColumns[:2] {
		if p.columns[i] < 0 {
			return hint.New(fmt.Sprintf("%s line %d: the column %s is missing", p.name, line, name), headerHint)
		}
	}
	return nil
}

func (p *people) person(line int, cells []string) person {
	of := person{line, make([]string, len(memberColumns))}
	for i, column := range p.columns {
		if column >= 0 {
			of.values[i] = strings.TrimSpace(cells[column])
		}
	}
	return of
}
