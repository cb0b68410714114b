package operator

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// object is a request's body.
type object map[string]any

// answer is what a request was answered with, and not an error.
type answer struct {
	header http.Header
	body   []byte
}

const (
	maxAnswer  = 64 << 20        // bytes
	maxWait    = 2 * time.Minute // for an answer
	maxRefused = 10              // how often a refused request is sent again
)

// do makes a request to a path below /admin/v1. One that the server's limit
// refuses is sent again when the server says.
func (s *session) do(method, path string, body object, header http.Header) (answer, error) {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	for refused := 0; ; refused++ {
		a, status, err := s.once(method, path, content, header)
		if err != nil {
			return answer{}, err
		}
		s.compareVersions(a.header)
		switch {
		case status < 300:
			return a, nil
		case status != http.StatusTooManyRequests || refused == maxRefused:
			return answer{}, s.refusal(status, a)
		}
		if err := s.wait(a.header.Get("Retry-After")); err != nil {
			return answer{}, err
		}
	}
}

// once sends a request and reads its answer.
func (s *session) once(method, path string, content []byte, header http.Header) (a answer, status int, err error) {
	ctx, cancel := context.WithTimeout(s.cmd.Context(), maxWait)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, s.conn.Base+prefix+path, bytes.NewReader(content))
	if err != nil {
		return a, 0, err
	}
	s.setHeaders(q, header)
	r, err := s.conn.Client.Do(q)
	if err != nil {
		return a, 0, s.unreached(method, err)
	}
	defer r.Body.Close()
	a.header = r.Header
	a.body, err = io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	switch {
	case err != nil:
		return a, 0, s.unreached(method, err)
	case len(a.body) > maxAnswer:
		return a, 0, errors.New("the answer is larger than any of teamdata; is it a teamdata server?")
	}
	return a, r.StatusCode, nil
}

func (s *session) setHeaders(q *http.Request, header http.Header) {
	for name, values := range header {
		q.Header[name] = values
	}
	q.Header.Set("User-Agent", "teamdata/"+s.Version)
	if q.ContentLength > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	if s.actor != "" {
		q.Header.Set("Teamdata-Actor", s.actor)
	}
	if s.idempotencyKey != "" && q.Method == http.MethodPost && q.Header.Get("Idempotency-Key") == "" {
		q.Header.Set("Idempotency-Key", s.idempotencyKey)
	}
}

// wait waits as long as a server asks, within reason.
func (s *session) wait(retryAfter string) error {
	seconds, err := strconv.Atoi(retryAfter)
	if err != nil || seconds < 0 {
		seconds = 1
	}
	seconds = min(seconds, 60)
	s.note("the server asks to wait for %d s", seconds)
	select {
	case <-s.cmd.Context().Done():
		return context.Cause(s.cmd.Context())
	case <-time.After(time.Duration(seconds) * time.Second):
		return nil
	}
}

// unreached explains a request that got no answer.
func (s *session) unreached(method string, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // it repeats the method and the URL
	}
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the server's certificate is of a CA that is not trusted here (%w); name the CA's file with --ca-file", err)
	case method == http.MethodGet:
		return fmt.Errorf("no answer from the server: %w", err)
	}
	return fmt.Errorf("no answer from the server: %w; whether it was done is not known, so look before you try again", err)
}

// compareVersions warns once of a server that is of another version.
func (s *session) compareVersions(h http.Header) {
	theirs := h.Get("Teamdata-Version")
	if s.warned || theirs == "" || theirs == s.Version {
		return
	}
	s.warned = true
	s.note("warning: the server is teamdata %s, and this program is %s; use the one that belongs to the server", theirs, s.Version)
}
