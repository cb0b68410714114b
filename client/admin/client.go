// Package admin is the client of the admin API, with which the operator and the
// team's own software change the data of the Team Data API.
//
//	client := admin.OverSocket("/var/lib/teamdata/teamdata.db.sock")
//	member, err := client.AddMember(ctx, "org_acme", admin.NewMember{UserID: "usr_bob", Role: "member"}, admin.Actor("usr_ada"))
//
// Retries, errors and lists are those of package teamdata, above it. Nothing else but
// the standard library is imported, so both packages can be copied together. The types
// and methods are generated from the API's description, and each method has the name
// of the operation there; its errors are those of docs/admin-api.md. It exports more
// than 40 names because most of them are those types.
//
// A secret that is shown once is not repeated: if the answer to a creation was lost on
// its way and the client asked again, the secret is nil. Revoke such a key or token,
// and create another.
package admin

import (
	"context"
	"net"
	"net/http"

	teamdata "teamdata/client"
)

// Client changes the data of a server. It may be used by several goroutines at
// once.
type Client struct{ *teamdata.Transport }

// New makes a client over HTTPS; the key is an operator token.
func New(config teamdata.Config) *Client {
	return &Client{teamdata.NewTransport(config, "/admin/v1", nil)}
}

// OverSocket makes a client over the Unix socket beside the server's data file,
// which needs no token.
func OverSocket(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return New(teamdata.Config{BaseURL: "http://teamdata", HTTP: &http.Client{Transport: &http.Transport{DialContext: dial}}})
}

// Actor sets the actor of the audit entry, in 1 to 200 characters. Without it the
// entry has no actor.
func Actor(userID string) teamdata.Option { return teamdata.SetHeader("Teamdata-Actor", userID) }

// IfMatch makes a change only if the instructions still have the ETag that
// ReadInstructions returned; otherwise the error is a CodePreconditionFailed.
func IfMatch(etag string) teamdata.Option { return teamdata.SetHeader("If-Match", etag) }
