package cli

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"teamdata/app"
	"teamdata/delivery/receiver"
	"teamdata/internal/localca"
	"teamdata/internal/terminal"
)

// exampleOrg is the fixture that the demo serves, a good first page to read
// about the format.
//
//go:embed testdata/example.json
var exampleOrg []byte

// example are the parts of exampleOrg that the demo's commands use.
type example struct {
	Orgs []struct {
		APIKeys  []struct{ ID, Secret string }
		Webhooks []struct{ ID, URL, Secret string }
	}
}

// serveDemo runs the server on a temporary file with the example org, whose
// endpoint is a built-in receiver, and prints what to try.
func serveDemo(ctx context.Context, s app.Settings, out io.Writer, log zerolog.Logger) (err error) {
	folder, err := os.MkdirTemp("", "teamdata-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var parts example
	if err := json.Unmarshal(exampleOrg, &parts); err != nil {
		return err
	}
	hook := parts.Orgs[0].Webhooks[0]
	s.Data = filepath.Join(folder, "teamdata.db")
	s.Seed = filepath.Join(folder, "example.json")
	s.WebhookCA = filepath.Join(folder, "receiver.ca.pem")
	url, stop, err := serveReceiver(hook.Secret, s.WebhookCA, out)
	if err != nil {
		return err
	}
	defer stop()
	s.AllowEndpointCIDR = append(s.AllowEndpointCIDR, "127.0.0.1/32")
	seed := bytes.Replace(exampleOrg, []byte(hook.URL), []byte(url+"/hook"), 1)
	if err := os.WriteFile(s.Seed, seed, 0o600); err != nil {
		return err
	}
	a, err := startSomewhere(ctx, s, log)
	if err != nil {
		return err
	}
	printTour(a, s.Data, out, parts)
	return a.Run(ctx)
}

// serveReceiver serves a receiver that prints events to out, with its own CA, whose
// certificate it writes to caFile.
func serveReceiver(secret, caFile string, out io.Writer) (url string, stop func(), err error) {
	secrets, err := receiver.ParseSecrets(secret)
	if err != nil {
		return "", nil, err
	}
	config, err := localca.Loopback(time.Now(), "demo receiver", caFile)
	if err != nil {
		return "", nil, err
	}
	return receiver.Serve(receiver.New(receiver.Config{Secrets: secrets, Print: receiver.Text(out, receiver.InColour(out))}), config)
}

// startSomewhere starts the server, on a free port if its own is taken.
func startSomewhere(ctx context.Context, s app.Settings, log zerolog.Logger) (*app.App, error) {
	a, err := app.Start(ctx, s, log)
	if errors.Is(err, syscall.EADDRINUSE) && s.Listen == app.DefaultListen {
		s.Listen = "127.0.0.1:0"
		return app.Start(ctx, s, log)
	}
	return a, err
}

// printTour prints commands that work when they are pasted.
func printTour(a *app.App, data string, out io.Writer, parts example) {
	keys, hook := parts.Orgs[0].APIKeys, parts.Orgs[0].Webhooks[0]
	curl := func(key int, options, path string) string {
		return fmt.Sprintf("  curl %s-w '\\n' -H 'Authorization: Bearer %s.%s' %s%s",
			a.CurlOptions(), keys[key].ID, keys[key].Secret, options, terminal.ShellWord(a.Base()+path))
	}
	fmt.Fprintf(out, `teamdata demo: an example org, on a temporary file that goes when you stop it

  settings   %s
  API        %s/api/v1
  data file  %s

%sOr paste these into another terminal.

The members, two to a page:
%s

The audit log, oldest first:
%s

What the org's assistant is told:
%s

Send a test event, and see it arrive below. With the same Idempotency-Key it is
sent once, however often you ask:
%s

What an AI assistant asks for, over the Model Context Protocol:
%s

What a mistake looks like:
%s

For a real install:
  teamdata serve
and, in another terminal, with names of your own:
  teamdata org create --name NAME
  teamdata member add USER --role owner
  teamdata signin-link USER

Stop with Ctrl-C. Events that the built-in receiver gets, verified with the
Standard Webhooks library:

`,
		a.SettingsURL(), a.Base(), data, a.FirstLink(),
		curl(0, "", "/api/v1/members?limit=2"),
		curl(0, "", "/api/v1/audit-log?limit=5"),
		curl(0, "", "/api/v1/assistant/instructions"),
		curl(1, "-X POST -H 'Idempotency-Key: first-try' ", "/api/v1/webhooks/"+hook.ID+"/test"),
		curl(0, `-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listMembers"}}' `, "/mcp"),
		curl(1, "-i ", "/api/v1/members"),
	)
}
