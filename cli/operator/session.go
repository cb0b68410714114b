package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// session is one command at work.
type session struct {
	*kit
	cmd    *cobra.Command
	conn   Connection
	out    output
	warned bool // that the server has another version
}

func (s *session) connect() (err error) {
	s.conn, err = s.Connect(s.cmd.Context(), s.target)
	return err
}

// disconnect ends the connection, if there is one. Without a server it closes the
// data file.
func (s *session) disconnect() error {
	end := s.conn.Close
	if s.conn = (Connection{}); end == nil {
		return nil
	}
	return end()
}

const prefix = "/admin/v1"

// path is where something of the org is.
func (s *session) path(parts ...string) string {
	return pathTo(append([]string{"orgs", s.org}, parts...)...)
}

func pathTo(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString("/" + url.PathEscape(part))
	}
	return b.String()
}

// maxNamed is how many orgs an error names.
const maxNamed = 20

// findOrg takes the only org there is, unless a flag names one.
func (s *session) findOrg() error {
	if s.org != "" {
		return nil
	}
	a, err := s.do(http.MethodGet, fmt.Sprintf("/orgs?limit=%d", maxNamed+1), nil, nil)
	if err != nil {
		return err
	}
	var page struct{ Data []orgID }
	if err := json.Unmarshal(a.body, &page); err != nil {
		return errForm(err)
	}
	switch len(page.Data) {
	case 0:
		return errors.New("there is no org yet; make one with: teamdata org create --name NAME")
	case 1:
		s.org = page.Data[0].ID
		return nil
	}
	return errSeveral(page.Data)
}

type orgID struct{ ID string }

func errSeveral(orgs []orgID) error {
	var names []string
	for _, org := range orgs[:min(len(orgs), maxNamed)] {
		names = append(names, plain(org.ID))
	}
	if len(orgs) > maxNamed {
		names = append(names, "and others")
	}
	return fmt.Errorf("there are several orgs; name one with --org: %s", strings.Join(names, ", "))
}

// ask sends a request, and prints the record that is answered; with --quiet
// one field of it.
func (s *session) ask(method, path string, body object, quiet string) error {
	a, err := s.do(method, path, body, nil)
	if err != nil {
		return err
	}
	return s.show(a, quiet)
}

// show prints a record.
func (s *session) show(a answer, quiet string) error {
	if s.json {
		return s.out.json(a.body)
	}
	var r record
	if err := json.Unmarshal(a.body, &r); err != nil {
		return errForm(err)
	}
	if !s.quiet {
		return s.out.lines(r)
	}
	value, ok := r.find(quiet)
	if !ok || value == "" {
		return fmt.Errorf("the answer has no %s; see it whole without --quiet", quiet)
	}
	return s.out.line(value)
}

// secret is ask for an answer with a secret in it.
func (s *session) secret(path string, body object, field, told string) error {
	a, err := s.do(http.MethodPost, path, body, nil)
	if err != nil {
		return err
	}
	var kept map[string]any
	if json.Unmarshal(a.body, &kept) == nil && kept[field] == nil {
		return fmt.Errorf("this was done before, under the same --idempotency-key, and the %s was told then; for a new one, take another --idempotency-key", field)
	}
	if err := s.show(a, field); err != nil {
		return err
	}
	s.note("%s", told)
	return nil
}

// remove sends a DELETE and says what it did.
func (s *session) remove(path, what string) error {
	if _, err := s.do(http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	return s.said("%s is removed", what)
}

// said prints what was done where the API answers nothing.
func (s *session) said(format string, args ...any) error {
	if s.json || s.quiet {
		return nil
	}
	return s.out.line(plain(fmt.Sprintf(format, args...)))
}

// note tells something beside the output.
func (s *session) note(format string, args ...any) {
	fmt.Fprintln(s.cmd.ErrOrStderr(), plain(fmt.Sprintf(format, args...)))
}

func errForm(err error) error {
	return fmt.Errorf("the answer is not what teamdata answers (%w); is it a teamdata server?", err)
}
