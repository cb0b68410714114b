package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/internal/httpclient"
	"teamdata/server"
)

// Probe checks whether a running server is ready: at its URL if there is one,
// else on the admin socket of the data file.
type Probe struct {
	Data, StateDir, Socket string
	URL, CAFile            string
	Version                string // of this program
}

// Ready returns an error, one line, unless the server is ready.
func (p *Probe) Ready(ctx context.Context) error {
	client, base, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	r, body, err := get(ctx, client, base+server.ReadyPath, p.Version)
	if err != nil {
		return httpclient.Unanswered(err)
	}
	switch r.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusServiceUnavailable:
		lines := strings.FieldsFunc(string(body[:min(len(body), 4<<10)]), func(r rune) bool { return r < ' ' || r == 0x7f })
		return fmt.Errorf("the server is not ready: %s", strings.Join(lines, "; "))
	}
	return hint.With(fmt.Errorf("answered %d", r.StatusCode), "is it a teamdata server?")
}

// get requests a URL, and says which version of this program does.
func get(ctx context.Context, client *http.Client, address, version string) (r *http.Response, body []byte, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		q.Header.Set("User-Agent", "teamdata/"+version)
		r, err = client.Do(q)
	}
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	body, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20)) // where it breaks off shows in what it says
	return r, body, nil
}

func (p *Probe) connect(ctx context.Context) (client *http.Client, base string, err error) {
	if p.URL != "" {
		u, err := httpclient.ServerURL("--url", p.URL)
		if err != nil {
			return nil, "", err
		}
		roots, err := httpclient.Roots("--ca-file", p.CAFile)
		return httpclient.New(roots), u.String(), err
	}
	path := app.SocketPath(p.Socket, p.Data, p.StateDir)
	client, err = socket.Client(ctx, path)
	if err == nil && client == nil {
		err = hint.With(fmt.Errorf("no server listens on %s", path), "start it with teamdata serve, or name its socket with --socket")
	}
	return client, socket.Base, err
}
