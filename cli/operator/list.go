package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"teamdata/internal/terminal"
)

// columns are the columns of a list: a title and the field below it, and again.
// The first one is the id.
type columns []string

// rows are those of some records.
func (c columns) rows(items []json.RawMessage) (rows [][]string, err error) {
	for _, item := range items {
		var r record
		if err := json.Unmarshal(item, &r); err != nil {
			return nil, errForm(err)
		}
		var row []string
		for i := 1; i < len(c); i += 2 {
			row = append(row, orDash(r.find(c[i])))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// printer prints records in one table, some at a time.
func (c columns) printer(o output) func([]json.RawMessage) error {
	t := terminal.Table{To: o.to, Width: o.width}
	for i := 0; i < len(c); i += 2 {
		t.Titles = append(t.Titles, c[i])
	}
	return func(items []json.RawMessage) error {
		rows, err := c.rows(items)
		if err != nil {
			return err
		}
		return t.Print(rows...)
	}
}

// list prints all pages of a list, or up to --limit records.
func (s *session) list(a *action, query url.Values) error {
	if s.json {
		return s.listJSON(a, query)
	}
	print := a.columns.printer(s.out)
	if s.quiet {
		print = func(items []json.RawMessage) error {
			ids, err := fieldOf(items, a.columns[1])
			return errors.Join(err, s.out.ids(ids))
		}
	}
	n, err := s.eachPage(a.route, query, print)
	if err == nil && n == 0 {
		s.note("%s", fill(a.none, s.args))
	}
	return err
}

// listJSON prints all pages as one JSON array, an item a line.
func (s *session) listJSON(a *action, query url.Values) error {
	before := "["
	_, err := s.eachPage(a.route, query, func(items []json.RawMessage) error {
		var b strings.Builder
		for _, item := range items {
			b.WriteString(before)
			b.WriteString("\n")
			b.Write(item)
			before = ","
		}
		return s.out.part(b.String())
	})
	if err != nil {
		return err
	}
	if before == "[" {
		return s.out.line("[]")
	}
	return s.out.line("\n]")
}

// maxPage is how many records a page may have.
const maxPage = 100

// eachPage calls fn with the records of each page that has some, and returns
// how many there were.
func (s *session) eachPage(route string, query url.Values, fn func(items []json.RawMessage) error) (n int, err error) {
	for after := ""; ; {
		size := maxPage
		if s.limit > 0 {
			size = min(size, s.limit-n)
		}
		page, err := s.page(route, query, after, size)
		if err != nil {
			return n, err
		}
		if len(page.Data) > 0 {
			if err := fn(page.Data); err != nil {
				return n, err
			}
		}
		n += len(page.Data)
		if !page.HasMore || page.Next == nil || n == s.limit {
			return n, nil
		}
		after = *page.Next
	}
}

type page struct {
	Data    []json.RawMessage
	Next    *string
	HasMore bool
}

func (s *session) page(route string, query url.Values, after string, size int) (p page, err error) {
	q := url.Values{"limit": {fmt.Sprint(size)}}
	maps.Copy(q, query)
	if after != "" {
		q.Set("after", after)
	}
	_, err = s.read(route+"?"+q.Encode(), nil, &p)
	return p, err
}

// names are a field of the records on the first page of a list.
func (s *session) names(route, field string, most int) (names []string, err error) {
	p, err := s.page(route, nil, "", most)
	if err != nil {
		return nil, err
	}
	return fieldOf(p.Data, field)
}

// fieldOf are the texts of a field of some records.
func fieldOf(items []json.RawMessage, name string) (texts []string, err error) {
	rows, err := columns{"", name}.rows(items)
	for _, row := range rows {
		texts = append(texts, row[0])
	}
	return texts, err
}
