package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"teamdata/internal/httpclient"
	"teamdata/internal/localca"
	"teamdata/internal/signature"
	"teamdata/store"
)

// WorkerCommand is the command of the measured program that runs [Work].
const WorkerCommand = "worker"

// job is the work of a worker, one of both, and result its outcome.
type (
	job struct {
		Handler *handlerJob `json:",omitempty"`
		Post    *postJob    `json:",omitempty"`
	}
	result struct {
		Address string `json:",omitempty"` // of the handler
		Err     string `json:",omitempty"`
	}
)

// Work is a baseline in a separate process, like the server: a bare handler or a
// bare client. It reads jobs from in, one JSON document each, and writes the
// result of each to out. It ends when in does, and so with its parent process.
func Work(ctx context.Context, in io.Reader, out io.Writer) error {
	jobs, results := json.NewDecoder(in), json.NewEncoder(out)
	var poster *bareClient
	for {
		var j job
		if err := jobs.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("this command is only for teamdata bench: %w", err)
		}
		var r result
		var err error
		switch {
		case j.Handler != nil:
			r.Address, err = startHandler(ctx, j.Handler)
		case j.Post != nil:
			if poster == nil {
				poster, err = newBareClient(j.Post.CAFile)
			}
			if err == nil {
				err = poster.post(ctx, j.Post)
			}
		}
		if err != nil {
			r.Err = err.Error()
		}
		if err := results.Encode(r); err != nil {
			return err
		}
	}
}

// worker is a running [Work], as this process sees it.
type worker struct {
	*process
	jobs    io.WriteCloser
	results *json.Decoder
}

func (s *session) startWorker(ctx context.Context) (*worker, error) {
	w := &worker{process: s.newProcess(ctx, "the baseline's process", "bench", WorkerCommand)}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if w.jobs, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	w.results = json.NewDecoder(out)
	return w, s.start(w.process)
}

// do has the worker do a job. When ctx ends, so does the worker.
func (w *worker) do(j job) (r result, err error) {
	if err = json.NewEncoder(w.jobs).Encode(j); err == nil {
		err = w.results.Decode(&r)
	}
	switch {
	case err != nil:
		w.kill()
		return r, w.failure("it broke off (%v)", err)
	case r.Err != "":
		return r, errors.New(r.Err)
	}
	return r, nil
}

// end lets the worker end, and returns the CPU time that it took in all.
func (w *worker) end() (cpu time.Duration, err error) {
	w.jobs.Close()
	return w.wait()
}

// handlerJob is for a handler whose answers have so many bytes, head and body,
// with the authority of its certificate written to CAFile.
type handlerJob struct {
	Bytes  int
	CAFile string
}

// bareHead is about how many bytes net/http puts before the body.
const bareHead = 110

// startHandler starts a handler that does nothing but answer, on a server with
// the settings and the TLS of teamdata's, and returns its host:port.
func startHandler(ctx context.Context, j *handlerJob) (address string, err error) {
	config, err := localca.Loopback(time.Now(), "bench", j.CAFile)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	body := bytes.Repeat([]byte(" "), max(0, j.Bytes-bareHead))
	length := strconv.Itoa(len(body))
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 60 * time.Second, IdleTimeout: 120 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", length)
			w.Write(body)
		}),
	}
	context.AfterFunc(ctx, func() { server.Close() })
	go server.Serve(tls.NewListener(l, config))
	return l.Addr().String(), nil
}

// loadHandler runs a bare handler in a separate process and connects clients to
// it.
func (s *session) loadHandler(ctx context.Context, answerBytes, n int, request string) (clients, turn, error) {
	w, err := s.startWorker(ctx)
	if err != nil {
		return nil, nil, err
	}
	caFile := s.path("handler.ca")
	r, err := w.do(job{Handler: &handlerJob{answerBytes, caFile}})
	if err != nil {
		return nil, nil, err
	}
	roots, err := httpclient.Roots("the CA file", caFile)
	if err != nil {
		return nil, nil, err
	}
	return s.load(ctx, target{r.Address, roots}, n, request)
}

// postJob is for so many signed posts, 64 at a time, to the URLs in turns.
type postJob struct {
	URLs   []string
	CAFile string
	Posts  int
}

// bareClient signs and posts as any sender of webhooks does, and keeps nothing.
type bareClient struct {
	http   *http.Client
	secret signature.Secret
	posted atomic.Int64 // in all jobs
}

func newBareClient(caFile string) (*bareClient, error) {
	roots, err := httpclient.Roots("the CA file", caFile)
	if err != nil {
		return nil, err
	}
	secret, err := signature.ParseSecret(store.NewEndpointSecret())
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableCompression: true, MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
	}
	return &bareClient{http: &http.Client{Transport: transport}, secret: secret}, nil
}

// post does the job.
func (c *bareClient) post(ctx context.Context, j *postJob) error {
	var begun atomic.Int64
	return together(ctx, connections, func(ctx context.Context, i int) error {
		for begun.Add(1) <= int64(j.Posts) {
			if err := c.postOne(ctx, j.URLs[i%len(j.URLs)]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *bareClient) postOne(ctx context.Context, url string) error {
	const form = `{"type":"webhook.test","timestamp":"%s","data":{"orgId":"org_bench_00","endpointId":"whe_bench_00_00"}}`
	now := time.Now()
	id, unix := fmt.Sprintf("%s%026d", store.PrefixDelivery, c.posted.Add(1)), now.Unix()
	body := fmt.Appendf(nil, form, store.FormatTime(now))
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
	answer, err := c.http.Do(r)
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

// posting is a bare client in a separate process, and its receiver.
type posting struct {
	*worker
	job   postJob
	posts int // made so far
}

func (s *session) startPosting(ctx context.Context) (*posting, error) {
	r, err := s.newReceiver(ctx, "client.ca")
	if err != nil {
		return nil, err
	}
	p := &posting{job: postJob{Posts: s.warmUp(), CAFile: r.caFile}}
	if p.job.URLs, err = r.listen(deliveryEndpoints, false); err != nil {
		return nil, err
	}
	if p.worker, err = s.startWorker(ctx); err != nil {
		return nil, err
	}
	_, err = p.turn(ctx) // connections are made
	p.job.Posts = s.Events
	return p, err
}

// turn is how many posts a second are made.
func (p *posting) turn(context.Context) (float64, error) {
	start := time.Now()
	_, err := p.do(job{Post: &p.job})
	p.posts += p.job.Posts
	return float64(p.job.Posts) / time.Since(start).Seconds(), err
}
