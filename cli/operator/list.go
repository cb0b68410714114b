package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	teamdata "teamdata/client"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// columns are the columns of a list: a title and the field below it, and again.
// The first one is the id.
type columns []string

// rows are those of some records, with times in a layout of [output.when].
func (c columns) rows(o output, items []json.RawMessage, layout string) (rows [][]string, err error) {
	for _, item := range items {
		var r record
		if json.Unmarshal(item, &r) != nil {
			return nil, errForm
		}
		var row []string
		for i := 1; i < len(c); i += 2 {
			row = append(row, orDash(o.when(r.find(c[i]), layout)))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// printer prints records in one table, some at a time.
func (c columns) printer(o output, layout string) func([]json.RawMessage) error {
	t := terminal.Table{To: o.to, Width: o.width}
	for i := 0; i < len(c); i += 2 {
		title := c[i]
		if o.width > 0 && strings.HasSuffix(c[i+1], "At") {
			title += " (UTC)"
		}
		t.Titles = append(t.Titles, title)
	}
	return func(items []json.RawMessage) error {
		rows, err := c.rows(o, items, layout)
		if err != nil {
			return err
		}
		return t.Print(rows...)
	}
}

// list prints all pages of a list, or up to --limit records.
func (s *session) list(a *action) error {
	print, end := a.columns.printer(s.out, toMinute), func() error { return nil }
	switch {
	case s.json:
		print, end = s.jsonPrinter()
	case s.quiet:
		print = func(items []json.RawMessage) error {
			ids, err := fieldOf(items, a.columns[1])
			return errors.Join(err, s.out.ids(ids))
		}
	}
	filter, err := s.filter(a.op)
	if err != nil {
		return err
	}
	n, err := s.eachPage(a.op, filter, s.limit, print)
	if err == nil && n == 0 && !s.json {
		s.note("%s", fill(a.none, s.args))
	}
	if err != nil {
		return err
	}
	return end()
}

// filter is the filter of the flags, with the times that are said from now. An empty
// value, as of a shell's variable that isn't set, doesn't mean all.
func (s *session) filter(list operation) (object, error) {
	filter := list.fieldsSet(s.cmd.Flags())
	for _, f := range list.flags {
		if filter[f.field] == "" {
			return nil, hint.New("--"+f.name+" is empty", "leave it out for all")
		}
	}
	return filter, s.resolveTimes(filter)
}

// jsonPrinter prints records as one JSON array, an item a line.
func (s *session) jsonPrinter() (print func([]json.RawMessage) error, end func() error) {
	before := "["
	print = func(items []json.RawMessage) error {
		var b strings.Builder
		for _, item := range items {
			b.WriteString(before + "\n")
			b.Write(item)
			before = ","
		}
		return s.out.part(b.String())
	}
	return print, func() error {
		if before == "[" {
			return s.out.line("[]")
		}
		return s.out.line("\n]")
	}
}

// maxPage is how many records a page may have.
const maxPage = 100

// eachPage calls fn with the records of each page that has some, up to a limit of records
// unless that is 0, and returns how many there were.
func (s *session) eachPage(o operation, filter object, limit int, fn func(items []json.RawMessage) error) (n int, err error) {
	path, err := s.pathTo(o)
	if err != nil {
		return 0, err
	}
	list := teamdata.NewList[json.RawMessage](s.transport, path)
	for name, value := range filter {
		list = list.With(name, fmt.Sprint(value))
	}
	if limit > 0 {
		list = list.Limit(min(limit, maxPage))
	}
	for page, err := range list.Pages(s.cmd.Context()) {
		if err != nil {
			return n, s.explain(o, err)
		}
		items := page.Data
		if limit > 0 {
			items = items[:min(len(items), limit-n)]
		}
		if n += len(items); len(items) > 0 {
			err = fn(items)
		}
		if err != nil || limit > 0 && n == limit {
			return n, err
		}
	}
	return n, nil
}

// names are the ids of a list, up to a limit.
func (s *session) names(of idList, limit int) (names []string, err error) {
	_, err = s.eachPage(of.operation, nil, limit, func(items []json.RawMessage) error {
		ids, err := fieldOf(items, of.field)
		names = append(names, ids...)
		return err
	})
	return names, err
}

// fieldOf are the texts of a field of some records.
func fieldOf(items []json.RawMessage, name string) (texts []string, err error) {
	rows, err := columns{"", name}.rows(output{}, items, "")
	for _, row := range rows {
		texts = append(texts, row[0])
	}
	return texts, err
}
