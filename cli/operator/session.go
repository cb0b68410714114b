package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// session is one command at work.
type session struct {
	*env
	cmd     *cobra.Command
	args    []string
	conn    Connection
	out     output
	ifMatch string // the tag of the state that is to be changed; empty: whatever it is
	warned  bool   // that the server has another version
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

// routeTo is the method and the path of a route, with the org and the first argument
// in their places.
func (s *session) routeTo(route string) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	path = strings.ReplaceAll(path, "{org}", url.PathEscape(s.org))
	if len(s.args) > 0 {
		path = strings.ReplaceAll(path, "{id}", url.PathEscape(s.args[0]))
	}
	return method, path
}

// maxNamed is how many orgs an error names.
const maxNamed = 20

// findOrg takes the org that an argument or a flag names, else the only one.
func (s *session) findOrg(a *action) error {
	if len(s.args) > 0 && strings.Contains(a.use, "[ORG]") {
		s.org = s.args[0]
	}
	if s.org != "" {
		return nil
	}
	orgs, err := s.names("GET /orgs", "id", maxNamed+1)
	switch {
	case err != nil:
		return err
	case len(orgs) == 0:
		return hint.New("there is no org yet", "create one with: teamdata org create --name NAME")
	case len(orgs) == 1:
		s.org = orgs[0]
		return nil
	case len(orgs) > maxNamed:
		orgs[maxNamed] = "and others"
	}
	return hint.New("there are several orgs: "+strings.Join(orgs, ", "), "name one with --org")
}

// confirm asks a person to confirm an action, with its effects according to the server.
func (s *session) confirm(a *action) error {
	if a.asks == nil || s.yes {
		return nil
	}
	what, err := a.asks(s)
	if err != nil || what == "" {
		return err
	}
	return terminal.Confirm(s.cmd.InOrStdin(), s.cmd.ErrOrStderr(), false, what)
}

// ask sends an action's request, and prints what is answered.
func (s *session) ask(a *action, body object) error {
	answered, err := s.do(a.route, body)
	if err != nil {
		return err
	}
	if strings.HasPrefix(a.route, http.MethodDelete) {
		return s.said("%s", fill(a.done, s.args))
	}
	if a.secret && !s.has(answered, a.shows) {
		return errAnsweredOnce(a.shows)
	}
	if err := s.show(answered, a.shows); err != nil {
		return err
	}
	if a.done != "" {
		s.note("%s", fill(a.done, s.args))
	}
	s.warn(answered)
	return nil
}

// warn prints what an answer warns of beside the output.
func (s *session) warn(a answer) {
	var with struct{ Warnings []string }
	if json.Unmarshal(a.body, &with) == nil {
		for _, w := range with.Warnings {
			s.note("warning: %s", w)
		}
	}
}

// has reports whether an answer has a field.
func (s *session) has(a answer, field string) bool {
	var fields map[string]any
	return json.Unmarshal(a.body, &fields) != nil || fields[field] != nil
}

func errAnsweredOnce(what string) error {
	return hint.New("this was done before with the same --idempotency-key, and the "+what+" was printed then",
		"for a new one, use another --idempotency-key")
}

// show prints a record; with --quiet one field of it.
func (s *session) show(a answer, field string) error {
	if s.json {
		return s.out.json(a.body)
	}
	var r record
	if err := json.Unmarshal(a.body, &r); err != nil {
		return errForm(err)
	}
	if !s.quiet {
		return s.out.record(r.without("warnings"))
	}
	field = cmp.Or(field, "id")
	value := r.find(field)
	if value == "" {
		return hint.New("the answer has no "+field, "leave out --quiet to see all of it")
	}
	return s.out.line(value)
}

// said prints what was done where the API answers nothing.
func (s *session) said(format string, args ...any) error {
	if s.json || s.quiet {
		return nil
	}
	return s.out.line(terminal.Plain(fmt.Sprintf(format, args...)))
}

// note prints something beside the output.
func (s *session) note(format string, args ...any) {
	fmt.Fprintln(s.cmd.ErrOrStderr(), terminal.Plain(fmt.Sprintf(format, args...)))
}

const notTeamdata = "is it a teamdata server?"

func errForm(err error) error {
	return hint.With(fmt.Errorf("the answer is not what teamdata answers (%w)", err), notTeamdata)
}
