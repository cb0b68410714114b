package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	teamdata "teamdata/client"
)

// ReadBackup writes a consistent copy of the data file, and returns its size in
// bytes. It is tried once. One copy is made at a time; meanwhile the error is a
// CodeConflict.
func (c *Client) ReadBackup(ctx context.Context, to io.Writer, options ...teamdata.Option) (int64, error) {
	answer, err := c.Open(ctx, http.MethodGet, "/backup", options...)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(to, answer.Body)
	if size := answer.Header.Get("Teamdata-Backup-Size"); err == nil && size != fmt.Sprint(n) {
		err = fmt.Errorf("the backup was cut off after %d of %s bytes", n, size)
	}
	return n, err
}

// ReadInstructions returns the instructions to the assistant, and their ETag for
// [IfMatch].
func (c *Client) ReadInstructions(ctx context.Context, org string, options ...teamdata.Option) (instructions Instructions, etag string, err error) {
	var header http.Header
	instructions, err = teamdata.Call[Instructions](ctx, c.Transport, http.MethodGet, "/orgs/"+url.PathEscape(org)+"/instructions", nil, append(options, teamdata.ResponseHeader(&header)))
	return instructions, header.Get("ETag"), err
}

// CreatedLink is a sign-in link, or where it was mailed to.
type CreatedLink struct {
	SignInLink        // empty if the link was mailed
	MailedTo   string `json:"mailedTo"` // empty if it was not
}

// CreatedReplay is a replay, or with DryRun what one would do.
type CreatedReplay struct {
	Replay                       // with DryRun only Total and More
	Endpoints []ReplayedEndpoint `json:"endpoints"` // with DryRun
}

// SendEvents sends 1 to 1,000 events, all or none, and returns the ids of the deliveries
// of each, in their order.
func (c *Client) SendEvents(ctx context.Context, org string, events []NewEvent, options ...teamdata.Option) (deliveries [][]string, err error) {
	sent, err := teamdata.Call[SentEvents](ctx, c.Transport, http.MethodPost, "/orgs/"+url.PathEscape(org)+"/events/batch", NewEvents{Events: events}, options)
	for _, event := range sent.Events {
		deliveries = append(deliveries, event.Deliveries)
	}
	return deliveries, err
}

// AdvanceClock moves the clock of a server for tests forward, by whole seconds. It
// returns once all that became due was sent.
func (c *Client) AdvanceClock(ctx context.Context, by time.Duration, options ...teamdata.Option) (Clock, error) {
	return teamdata.Call[Clock](ctx, c.Transport, http.MethodPost, "/clock", Advance{AdvanceSeconds: new(int(by / time.Second))}, options)
}

// filtered is a list with what a filter says, which are texts and times, as the parameters
// of their names. Of several filters a later one decides about a field that both have.
func filtered[T, F any](l teamdata.List[T], filters []F) teamdata.List[T] {
	for _, filter := range filters {
		text, err := json.Marshal(filter)
		if err != nil { // a time past the year 9999, which the server is to refuse
			return l.With("since", err.Error())
		}
		var parameters map[string]string
		json.Unmarshal(text, &parameters)
		for name, value := range parameters {
			l = l.With(name, value)
		}
	}
	return l
}
