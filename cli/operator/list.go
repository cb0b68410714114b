package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// columns are the columns of a list: a title and the field below it, and again.
// The first one is the id.
type columns []string

func (c columns) titles() (titles []string) {
	for i := 0; i < len(c); i += 2 {
		titles = append(titles, c[i])
	}
	return titles
}

func (c columns) row(r record) (row []string) {
	for i := 1; i < len(c); i += 2 {
		text, _ := r.find(c[i])
		row = append(row, orDash(text))
	}
	return row
}

// list prints all pages of a list, or as many records as --limit says. none is
// what to say of an empty one.
func (s *session) list(path string, query url.Values, c columns, none string) error {
	var print func(items []json.RawMessage) error
	t := &table{out: s.out, titles: c.titles()}
	switch {
	case s.json:
		return s.listJSON(path, query)
	case s.quiet:
		print = func(items []json.RawMessage) error { return s.printIDs(items, c) }
	default:
		print = func(items []json.RawMessage) error { return printRows(t, items, c) }
	}
	n, err := s.eachPage(path, query, print)
	if err == nil && n == 0 {
		s.note("%s", none)
	}
	return err
}

func printRows(t *table, items []json.RawMessage, c columns) error {
	var rows [][]string
	for _, item := range items {
		var r record
		if err := json.Unmarshal(item, &r); err != nil {
			return errForm(err)
		}
		rows = append(rows, c.row(r))
	}
	return t.print(rows)
}

func (s *session) printIDs(items []json.RawMessage, c columns) error {
	for _, item := range items {
		var r record
		if err := json.Unmarshal(item, &r); err != nil {
			return errForm(err)
		}
		if err := s.out.line(c.row(r)[0]); err != nil {
			return err
		}
	}
	return nil
}

// listJSON prints all pages as one JSON array, an item a line.
func (s *session) listJSON(path string, query url.Values) error {
	before := "["
	_, err := s.eachPage(path, query, func(items []json.RawMessage) error {
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
func (s *session) eachPage(path string, query url.Values, fn func(items []json.RawMessage) error) (n int, err error) {
	if s.limit < 0 {
		return 0, errors.New("--limit is 0 (all) or more")
	}
	for after := ""; ; {
		size := maxPage
		if s.limit > 0 {
			size = min(size, s.limit-n)
		}
		page, err := s.page(path, query, after, size)
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

func (s *session) page(path string, query url.Values, after string, size int) (p page, err error) {
	q := url.Values{"limit": {fmt.Sprint(size)}}
	for name, values := range query {
		q[name] = values
	}
	if after != "" {
		q.Set("after", after)
	}
	a, err := s.do(http.MethodGet, path+"?"+q.Encode(), nil, nil)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		return p, errForm(err)
	}
	return p, nil
}
