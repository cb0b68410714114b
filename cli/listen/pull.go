package listen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"teamdata/app"
	teamdata "teamdata/client"
	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
	"teamdata/internal/netguard"
	"teamdata/internal/smallfile"
	"teamdata/internal/terminal"
)

// pulling is where events are pulled from, instead of being received.
type pulling struct {
	url      *url.URL
	endpoint string
	client   *teamdata.Client
	verifier *teamdata.Verifier
}

// checkPull checks the flags of pulling, and those that go with receiving alone.
func (s *settings) checkPull(f *pflag.FlagSet, secrets []string) error {
	if s.Pull == "" {
		if s.KeyFile != "" || s.CAFile != "" {
			return hint.New("--key-file and --ca-file are for --pull", "say what to pull from, such as --pull https://data.example.com/pull/whe_1")
		}
		return nil
	}
	for _, name := range []string{"listen", "tls-dir", "tls-cert", "tls-key", "http", "ready-file"} {
		if f.Changed(name) {
			return hint.New(fmt.Sprintf("--%s is for events that are sent here, and --pull for those that are pulled", name), "leave one out")
		}
	}
	switch {
	case s.KeyFile == "":
		return hint.New("--pull needs an API key with the scope receive", "give its file with --key-file")
	case len(secrets) == 0:
		return hint.New("--pull needs the endpoint's secret to verify its events with", "give its file with --secret-file")
	}
	return nil
}

// keyForm is that of an API key. Its parts have the characters of ids.
var keyForm = regexp.MustCompile(`^[\w-]+\.[\w-]+$`)

// pulling prepares what the flags say.
func (s *settings) pulling(secrets []string, notes func(string)) (*pulling, error) {
	p := &pulling{}
	base, err := p.parse(s.Pull)
	if err != nil {
		return nil, err
	}
	content, err := smallfile.Read(s.KeyFile)
	if err != nil {
		return nil, hint.With(fmt.Errorf("--key-file: %w", err), "give the path of a file that holds only the key")
	}
	key := strings.TrimSpace(string(content))
	if !keyForm.MatchString(key) {
		return nil, hint.New("--key-file "+s.KeyFile+" does not hold an API key, which has the form <id>.<secret>", "create one with: teamdata key create --scopes receive")
	}
	roots, err := httpclient.Roots("--ca-file", s.CAFile)
	if err != nil {
		return nil, err
	}
	if p.verifier, err = teamdata.NewVerifier(secrets...); err != nil {
		return nil, err
	}
	p.client = teamdata.New(teamdata.Config{BaseURL: base, Key: key, HTTP: httpclient.New(roots), Retrying: func(err error, wait time.Duration) bool {
		notes(fmt.Sprintf("%v; trying again in %s", explained(err), wait.Round(100*time.Millisecond)))
		return true
	}})
	return p, nil
}

// parse reads the URL of an endpoint that is pulled from. A key may only be sent over HTTPS,
// or on this machine.
func (p *pulling) parse(text string) (base string, err error) {
	u, err := url.Parse(text)
	if err == nil {
		base, p.endpoint, _ = strings.Cut(u.String(), "/pull/")
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || p.endpoint == "" || strings.Contains(p.endpoint, "/") {
		return "", fmt.Errorf("--pull %q is not the URL of an endpoint to pull from, such as https://data.example.com/pull/whe_1", text)
	}
	if u.Scheme == "http" && !netguard.IsLoopback(u.Hostname()) {
		return "", hint.New(fmt.Sprintf("--pull %s: the API key can't go over plain HTTP", text), "use https://")
	}
	p.url = u
	return base, nil
}

// explained is why a pull failed, for people.
func explained(err error) error {
	refused, answered := errors.AsType[*teamdata.Error](err)
	switch {
	case !answered:
		return httpclient.Unanswered(err)
	case refused.Code == teamdata.CodeUnauthorized:
		return hint.With(fmt.Errorf("the server refused the API key: %w", refused), "create one with: teamdata key create --scopes receive")
	}
	return fmt.Errorf("the server answered %w", refused)
}

// pull pulls events until ctx is done, enough have come or it can't go on. What is being
// handled is finished and acknowledged first.
func (l *listening) pull(ctx context.Context) error {
	pulls, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served, ended := make(chan error, 1), make(chan error, 1)
	take := func(handling context.Context, e teamdata.Event) error {
		err := l.take(handling, e)
		select {
		case <-l.counted: // which ends the pulls; until then the next event must wait
			<-pulls.Done()
		default:
		}
		return err
	}
	go func() {
		err := l.pulling.client.Consume(pulls, teamdata.Consumer{
			Endpoint: l.pulling.endpoint, Verifier: l.pulling.verifier, Handle: take, Refused: l.refused, Grace: app.StopGrace,
		})
		if err != nil {
			err = explained(err)
		}
		served <- err
		ended <- err
	}()
	err := l.wait(ctx, served)
	stop()
	l.handler.Stop()
	return cmp.Or(err, <-ended)
}

// take handles a pulled event as one that was sent here; an answer other than 2xx gives it
// back.
func (l *listening) take(ctx context.Context, e teamdata.Event) error {
	e.Header.Set("Content-Type", "application/json")
	switch taken := l.handler.Take(ctx, e.Header, e.Body); {
	case taken.Problem != "":
		return errors.New(taken.Problem)
	case taken.Status/100 != http.StatusOK/100:
		return fmt.Errorf("answered %d %s", taken.Status, http.StatusText(taken.Status))
	}
	return nil
}

// refused prints an event that does not verify. What the receiver had, it has printed itself.
func (l *listening) refused(e teamdata.Event, err error) {
	if errors.Is(err, teamdata.ErrNotVerified) {
		l.handler.Refuse(e.Header, e.Body, err.Error())
	}
}

// note prints a line about the connection.
func (l *listening) note(text string) { fmt.Fprintln(l.notes, terminal.Plain(text)) }
