package program

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"teamdata/admin/socket"
	"teamdata/e2e/kit"
)

// Operator is a client of the admin API on the socket of a running server.
type Operator struct {
	testing.TB
	Client *http.Client
}

func NewOperator(t testing.TB, data string) Operator {
	t.Helper()
	client, err := socket.Client(context.Background(), socket.Path("", data))
	if err != nil || client == nil {
		t.Fatalf("no server listens: %v", err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return Operator{t, client}
}

// Do makes a request, whose answer may not come; headers are pairs.
func (o Operator) Do(method, path, body string, headers ...string) (status int, answer string, err error) {
	q, err := http.NewRequest(method, socket.Base+"/admin/v1"+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	a, err := kit.TryFetch(o.Client, q)
	return a.Status, a.Body, err
}
