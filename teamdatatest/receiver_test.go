package teamdatatest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"strconv"
	"testing"

	"teamdata/teamdatatest"
)

// forge posts an event to the receiver again, under a signature that is not of its
// endpoint's secret.
func forge(t testing.TB, srv *teamdatatest.Server, e teamdatatest.Event) {
	q, err := http.NewRequest("POST", srv.Receiver().URL+"/", bytes.NewReader(e.Body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("webhook-id", e.ID)
	q.Header.Set("webhook-timestamp", strconv.FormatInt(e.Timestamp.Unix(), 10))
	q.Header.Set("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // it is about the signature
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
