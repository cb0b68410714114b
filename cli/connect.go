package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/cli/operator"
	teamdata "teamdata/client"
	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
	"teamdata/internal/netguard"
	"teamdata/internal/smallfile"
)

// connector finds the admin API for the operator's commands of a version.
type connector struct{ version string }

// connect finds the admin API for a command: on a remote server, on the socket of
// the local one, or in this process on a data file that no server has open. All
// three give the same answers.
func (c connector) connect(ctx context.Context, t operator.Target) (operator.Connection, error) {
	if t.Server != "" {
		return connectServer(t)
	}
	path := app.SocketPath(t.Socket, t.Data, t.StateDir)
	switch client, err := socket.Client(ctx, path); {
	case err != nil:
		return operator.Connection{}, err
	case client != nil:
		return connection(overSocket(client)), nil
	case t.Served:
		return operator.Connection{}, hint.With(fmt.Errorf("%w on %s", operator.ErrNoServer, path), "start it with teamdata serve, or name another with --data, --socket or --server")
	}
	file, err := c.open(ctx, t)
	if !errors.Is(err, app.ErrInUse) {
		return file, err
	}
	// A server may have started in between.
	if client, _ := socket.Client(ctx, path); client != nil {
		return connection(overSocket(client)), nil
	}
	return file, hint.With(err, "if it is a server, name its socket with --socket: no server listens on "+path)
}

// open opens a data file that no server has open.
func (c connector) open(ctx context.Context, t operator.Target) (operator.Connection, error) {
	client, end, err := app.Offline{Data: t.Data, SealKeyFile: t.SealKeyFile, PublicURL: t.PublicURL, Version: c.version, Make: t.Make}.Admin(ctx, os.Stderr)
	if errors.Is(err, fs.ErrNotExist) && !t.Make {
		err = hint.New(fmt.Sprintf("there is no data file %s, and no server listens on %s", t.Data, app.SocketPath(t.Socket, t.Data, t.StateDir)),
			"name another with --data, or create it with its first org: teamdata org create --name NAME")
	}
	if err != nil {
		return operator.Connection{}, err
	}
	return operator.Connection{Config: overSocket(client), Close: end}, nil
}

// connectServer connects to a server elsewhere, with an operator token.
func connectServer(t operator.Target) (c operator.Connection, err error) {
	base, err := serverURL(t.Server)
	if err != nil {
		return c, err
	}
	token, err := operatorToken(t)
	if err != nil {
		return c, err
	}
	roots, err := httpclient.Roots("--ca-file", t.CAFile)
	if err != nil {
		return c, err
	}
	return connection(teamdata.Config{HTTP: httpclient.New(roots), BaseURL: base, Key: token}), nil
}

func connection(c teamdata.Config) operator.Connection {
	return operator.Connection{Config: c, Close: func() error { c.HTTP.CloseIdleConnections(); return nil }}
}

// overSocket is a connection without a token.
func overSocket(client *http.Client) teamdata.Config {
	return teamdata.Config{HTTP: client, BaseURL: socket.Base}
}

// serverURL returns the URL without a trailing slash. A token may only be sent
// over HTTPS, or on this machine.
func serverURL(text string) (string, error) {
	u, err := httpclient.ServerURL("--server", text)
	if err != nil {
		return "", err
	}
	if u.Scheme == "http" && !netguard.IsLoopback(u.Hostname()) {
		return "", hint.New(fmt.Sprintf("--server %s: the operator token can't go over plain HTTP", text), "use https://")
	}
	return u.String(), nil
}

// operatorToken reads the token from a file, or from the environment.
func operatorToken(t operator.Target) (string, error) {
	const advice = "create one on the server's machine with: teamdata operator-token create --name NAME"
	token := os.Getenv("TEAMDATA_OPERATOR_TOKEN")
	if t.TokenFile != "" {
		content, err := smallfile.Read(t.TokenFile)
		if err == nil {
			content, err = operator.UTF8Text(t.TokenFile, bytes.NewReader(content))
		}
		if err != nil {
			why, fix := hint.Split(err)
			return "", hint.New("--operator-token-file: "+why, cmp.Or(fix, giveTokenFile))
		}
		token = string(content)
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "" && t.TokenFile == "":
		return "", hint.New("--server needs an operator token, in TEAMDATA_OPERATOR_TOKEN or a file for --operator-token-file", advice)
	case !tokenForm.MatchString(token):
		return "", hint.New(t.TokenFrom()+" does not hold an operator token, which has the form <id>.<secret>", advice)
	}
	return token, nil
}

const giveTokenFile = "give the path of a file that holds only the token"

// tokenForm is that of an operator token. Its parts have the characters of ids.
var tokenForm = regexp.MustCompile(`^[\w-]+\.[\w-]+$`)
