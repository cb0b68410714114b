package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/internal/signature"
	"teamdata/store"
)

// postJob asks for so many signed posts, 64 at a time, to the URLs in turns.
type postJob struct {
	URLs   []string
	CAFile string
	Posts  int
}

// bareClient signs and posts as any sender of webhooks does, and keeps nothing.
type bareClient struct {
	client *http.Client
	secret signature.Secret
	posted atomic.Int64 // in all jobs
}

func newClient(j *postJob) (*bareClient, error) {
	ca, err := os.ReadFile(j.CAFile)
	if err != nil {
		return nil, err
	}
	secret, err := signature.ParseSecret(store.NewEndpointSecret())
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: rootsOf(ca), MinVersion: tls.VersionTLS12},
		DisableCompression: true, MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
	}
	return &bareClient{client: &http.Client{Transport: transport}, secret: secret}, nil
}

// post does the job, and returns how long it took.
func (c *bareClient) post(ctx context.Context, j *postJob) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	for i := range connections {
		url := j.URLs[i%len(j.URLs)]
		group.Go(func() {
			for begun.Add(1) <= int64(j.Posts) && ctx.Err() == nil {
				if err := c.postOne(ctx, url); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return time.Since(start), context.Cause(ctx)
}

// testBody is the body of an event webhook.test.
func testBody(orgID, endpointID string, now time.Time) []byte {
	const form = `{"type":"webhook.test","timestamp":"%s","data":{"orgId":"%s","endpointId":"%s"}}`
	return fmt.Appendf(nil, form, store.FormatTime(now), orgID, endpointID)
}

func (c *bareClient) postOne(ctx context.Context, url string) error {
	now := time.Now()
	id, unix := fmt.Sprintf("%s%026d", store.PrefixDelivery, c.posted.Add(1)), now.Unix()
	body := testBody("org_bench_00", "whe_bench_00_00", now)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {"teamdata"},
		"webhook-id":        {id},
		"webhook-timestamp": {strconv.FormatInt(unix, 10)},
		"webhook-signature": {string(signature.Sign(nil, id, unix, body, c.secret))},
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the receiver answered %s", answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
