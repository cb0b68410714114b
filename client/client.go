// Package teamdata is the client of the Team Data API, and verifies the webhooks
// that a teamdata server sends. Package admin, below it, is the client of the
// admin API.
//
//	client := teamdata.New(teamdata.Config{BaseURL: "https://data.example.com", Key: key})
//	for member, err := range client.ListMembers().All(ctx) {
//		…
//	}
//
// A request that fails temporarily is sent again, under the same Idempotency-Key,
// see [Config]. An answer that is not a success is an [*Error].
// Lists are read page by page, see [List]. Webhooks are verified by a [Verifier]. Where none
// can be sent to, [Client.Consume] pulls them.
//
// The package needs only the standard library, so it may also be copied. The
// types of the answers and the methods are generated from the API's description,
// and each method has the name of the operation there. It exports more than 40 names
// because most of them are those types.
package teamdata

import "net/http"

// Client reads the data of one org from a server, and pulls from its endpoints, with an API
// key of the org. It may be used by several goroutines at once.
type Client struct {
	*Transport
	pull *Transport
}

// New makes a client. It sends nothing yet; an error in the config is
// returned by each call.
func New(config Config) *Client {
	version := http.Header{"Api-Version": {Version}}
	return &Client{NewTransport(config, "/api/v1", version), NewTransport(config, "/pull", version)}
}
