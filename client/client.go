// Package teamdata is the client of the Team Data API, and verifies the webhooks
// that a teamdata server sends. Package admin, below it, is the client of the
// admin API.
//
//	client := teamdata.New(teamdata.Config{BaseURL: "https://data.example.com", Key: key})
//	for member, err := range client.ListMembers().All(ctx) {
//		…
//	}
//
// A request that fails in a way that may pass is sent again, under the same
// Idempotency-Key, see [Config]. An answer that is not a success is an [*Error].
// Lists are read page by page, see [List]. Webhooks are verified by a [Verifier].
//
// The package needs only the standard library, so it may also be copied. The
// types of what the API returns are generated from its description, and each
// method has the name of the operation there. It exports more than 40 names because
// most of them are those types.
package teamdata

import (
	"context"
	"net/http"
	"net/url"
)

// Version is the version of the API that this client is made for. It is sent with
// each request, so a later version of the server gives the same answers.
const Version = "2026-10-06"

// Client reads the data of one org from a server, with an API key of the org. It may be
// used by several goroutines at once.
type Client struct{ *Transport }

// New makes a client. It sends nothing yet; an error in the config is that of each
// call.
func New(config Config) *Client {
	return &Client{NewTransport(config, "/api/v1", http.Header{"Api-Version": {Version}})}
}

// ListMembers lists the org's members, oldest first. The key needs the scope read.
func (c *Client) ListMembers() List[Member] {
	return NewList[Member](c.Transport, "/members")
}

// ListAuditLog lists what was done in the org, oldest first. The key needs the
// scope read, and the org a plan that includes the audit log.
func (c *Client) ListAuditLog() List[AuditLogEntry] {
	return NewList[AuditLogEntry](c.Transport, "/audit-log")
}

// GetAssistantInstructions returns the org's instructions to its assistant, which
// are null if it has set none. The key needs the scope read. With the ETag of an
// earlier answer in the header If-None-Match, see [SetHeader], the error has the
// Status 304 if they have not changed since.
func (c *Client) GetAssistantInstructions(ctx context.Context, options ...Option) (AssistantInstructions, error) {
	return Call[AssistantInstructions](ctx, c.Transport, http.MethodGet, "/assistant/instructions", nil, options)
}

// TestWebhook sends a test event to one of the org's webhook endpoints, and returns
// the id of the delivery, which the receiver sees as [Event.ID]. The key needs the
// scope write. A disabled endpoint is a [CodeConflict].
func (c *Client) TestWebhook(ctx context.Context, endpointID string, options ...Option) (TestDelivery, error) {
	return Call[TestDelivery](ctx, c.Transport, http.MethodPost, "/webhooks/"+url.PathEscape(endpointID)+"/test", nil, options)
}
