package operator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	teamdata "teamdata/client"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// session is one command at work.
type session struct {
	*env
	cmd       *cobra.Command
	args      []string
	transport *teamdata.Transport
	end       func() error // of the connection; nil: there is none
	out       output
	warned    bool // that the server has another version
	waited    bool // as its rate limit asked for
}

// maxNamed is how many orgs an error names.
const maxNamed = 20

// findOrg takes the only org, unless one is named.
func (s *session) findOrg() error {
	if s.org != "" {
		return checkID(s.org)
	}
	orgs, err := s.names(idList{listOrgs, "id"}, maxNamed+1)
	switch {
	case err != nil:
		return err
	case len(orgs) == 0:
		return hint.New("there are no orgs yet", "create one with: teamdata org create --name NAME")
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
	answer, err := s.request(a.op, body)
	switch {
	case err != nil:
		return err
	case s.json && a.print != nil && !a.secret:
		return s.out.text(string(answer))
	case a.print != nil:
		return a.print(s, answer)
	case a.op.method == http.MethodDelete:
		noun := strings.ReplaceAll(s.cmd.Parent().Name(), "-", " ")
		return s.printDone("%s", fill(cmp.Or(a.done, noun+" {id} is deleted"), s.args))
	}
	var fields map[string]any
	if json.Unmarshal(answer, &fields) == nil && a.secret && fields[a.shows] == nil {
		return errAnsweredOnce(a.shows)
	}
	if err := s.show(answer, a.shows); err != nil {
		return err
	}
	if a.done != "" {
		s.note("%s", fill(a.done, s.args))
	}
	var with struct{ Warnings []string }
	json.Unmarshal(answer, &with)
	for _, warning := range with.Warnings {
		s.note("warning: %s", warning)
	}
	return nil
}

func errAnsweredOnce(what string) error {
	return hint.New("this was done before with the same --idempotency-key, and the "+what+" was printed then",
		"for a new one, use another --idempotency-key")
}

// show prints a record; with --quiet one field of it.
func (s *session) show(answer json.RawMessage, field string) error {
	if s.json {
		return s.out.text(string(answer))
	}
	var r record
	if json.Unmarshal(answer, &r) != nil {
		return errForm
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

// printDone prints what was done where the API answers nothing.
func (s *session) printDone(format string, args ...any) error {
	if s.json || s.quiet {
		return nil
	}
	return s.out.line(terminal.Plain(fmt.Sprintf(format, args...)))
}

// note prints something beside the output.
func (s *session) note(format string, args ...any) {
	fmt.Fprintln(s.cmd.ErrOrStderr(), terminal.Plain(fmt.Sprintf(format, args...)))
}
