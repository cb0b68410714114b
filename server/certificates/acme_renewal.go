package certificates

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// An authority is asked when to renew a certificate as RFC 9773 has it (ARI). The order
// does not name the certificate that it replaces: golang.org/x/crypto/acme can't.
const (
	askTimeout   = 30 * time.Second // of both calls together
	maxSuggested = 64 << 10         // bytes of an answer
	minAskPause  = time.Minute
	askPause     = 6 * time.Hour // if the answer asks for none
	maxAskPause  = 24 * time.Hour
)

// renewal is what an authority suggested for the certificate that is served.
type renewal struct {
	at       time.Time // when to renew it; zero: unknown
	ask      time.Time // before it the authority is not asked again
	failures int       // since it last told
	asking   bool
}

// renewAt is when to renew the certificate that is served; d.mu is locked.
func (d *domain) renewAt() time.Time {
	if c := d.served.Leaf; d.renewal.at.IsZero() {
		return c.NotAfter.Add(-renewBefore(lifetime(c)))
	}
	return d.renewal.at
}

func lifetime(c *x509.Certificate) time.Duration { return c.NotAfter.Sub(c.NotBefore) }

// renewBefore is how long before its end a certificate of a lifetime is renewed when its
// authority suggests nothing.
func renewBefore(life time.Duration) time.Duration { return min(life/3, 30*24*time.Hour) }

// beginAsking returns the certificate about which to ask its authority now; nil: none.
// Once it is due there is no more to ask.
func (d *domain) beginAsking(now time.Time) (*tls.Certificate, *authority) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.due(now) || d.running || d.renewal.asking || now.Before(d.renewal.ask) || d.acme.life.Err() != nil {
		return nil, nil
	}
	d.renewal.asking = true
	return d.served, d.issuer
}

var errNoARI = errors.New("the authority suggests no time")

// ask asks the authority of a certificate when to renew it. When that can't be had, what
// it suggested before counts; if that is nothing, the time that follows from its life.
func (d *domain) ask(c *tls.Certificate, by *authority) {
	ctx, cancel := context.WithTimeout(d.acme.life, askTimeout)
	defer cancel()
	w, pause, err := d.acme.suggested(ctx, by, c.Leaf)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.served != c {
		return
	}
	now, log := d.acme.config.Now(), d.log.With().Str("authority", by.directory).Logger()
	r := &d.renewal
	r.asking = false
	switch {
	case errors.Is(err, errNoARI):
		*r = renewal{ask: now.Add(maxAskPause)}
	case err != nil:
		if r.failures++; r.failures == 1 && d.acme.life.Err() == nil {
			log.Warn().Err(err).Time("renewal", d.renewAt()).Msg("the authority can't be asked when to renew the certificate")
		}
		r.ask = now.Add(min(max(minAskPause<<min(r.failures-1, 11), pause), maxAskPause))
	default:
		at := w.moment(c.Leaf)
		if !at.Equal(r.at) {
			log.Info().Time("from", w.Start).Time("until", w.End).Time("renewal", at).Fields(w.explanation()).
				Msg("the authority suggests when to renew the certificate")
		}
		if pause == 0 {
			pause = askPause
		}
		*r = renewal{at: at, ask: now.Add(min(max(pause, minAskPause), maxAskPause))}
	}
}

// window is when an authority wants a certificate to be renewed.
type window struct {
	Start, End     time.Time
	explanationURL string
}

// explanation is why, for the log.
func (w window) explanation() map[string]any {
	if w.explanationURL == "" {
		return nil
	}
	return map[string]any{"explanation": fmt.Sprintf("%.*s", maxDetail, w.explanationURL)}
}

// moment is when to renew a certificate: any in the window, but the same for each node
// and after a restart, since it is drawn with the certificate's own hash. Whatever the
// authority says, a certificate is not renewed on its first day, or an authority that is
// wrong would have us use up its limits; and not so late that few attempts are left.
func (w window) moment(c *x509.Certificate) time.Time {
	hash := sha256.Sum256(c.Raw)
	const bits = 53 // that a float64 holds
	share := float64(binary.BigEndian.Uint64(hash[:])>>(64-bits)) / (1 << bits)
	at := w.Start.Add(time.Duration(share * float64(w.End.Sub(w.Start))))
	life := lifetime(c)
	earliest, latest := c.NotBefore.Add(min(life/3, clockPause)), c.NotAfter.Add(-renewBefore(life)/2)
	switch {
	case at.Before(earliest):
		return earliest
	case at.After(latest):
		return latest
	}
	return at
}

// suggested asks an authority for the window of a certificate, and how long to wait
// before it is asked again, 0 for as we like. Both calls are unsigned.
func (a *ACME) suggested(ctx context.Context, by *authority, c *x509.Certificate) (w window, pause time.Duration, err error) {
	var directory struct{ RenewalInfo string }
	if pause, err = a.read(ctx, by.directory, &directory); err != nil {
		return w, pause, err
	}
	id, err := renewalID(c)
	if err != nil || directory.RenewalInfo == "" {
		return w, 0, errNoARI
	}
	var info struct {
		SuggestedWindow struct{ Start, End time.Time }
		ExplanationURL  string
	}
	pause, err = a.read(ctx, strings.TrimSuffix(directory.RenewalInfo, "/")+"/"+id, &info)
	w = window{info.SuggestedWindow.Start, info.SuggestedWindow.End, info.ExplanationURL}
	if err == nil && (w.Start.IsZero() || !w.End.After(w.Start)) {
		err = fmt.Errorf("the window from %s until %s is empty", w.Start.Format(time.RFC3339), w.End.Format(time.RFC3339))
	}
	return w, pause, err
}

// renewalID names a certificate by its issuer's key and its serial number, as the DER of
// both has them (RFC 9773, 4.1).
func renewalID(c *x509.Certificate) (string, error) {
	serial := append([]byte{0}, c.SerialNumber.Bytes()...)
	if len(serial) > 1 && serial[1] < 0x80 { // it has no sign bit to be kept from
		serial = serial[1:]
	}
	if len(c.AuthorityKeyId) == 0 {
		return "", errNoARI
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode(c.AuthorityKeyId) + "." + encode(serial), nil
}

// read reads JSON over HTTPS, and how long the answer asks to wait before the next call.
func (a *ACME) read(ctx context.Context, address string, into any) (pause time.Duration, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	if err := onlyHTTPS(q, nil); err != nil {
		return 0, err
	}
	q.Header.Set("User-Agent", cmp.Or(a.config.UserAgent, "teamdata"))
	client := http.Client{Transport: a.http, CheckRedirect: onlyHTTPS}
	r, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	pause = retryAfter(r.Header)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSuggested))
	switch {
	case err != nil:
		return pause, err
	case r.StatusCode != http.StatusOK:
		return pause, fmt.Errorf("%s answered %d %s", q.URL.Host, r.StatusCode, http.StatusText(r.StatusCode))
	case json.Unmarshal(body, into) != nil:
		return pause, fmt.Errorf("%s answered with something else", q.URL.Host)
	}
	return pause, nil
}

// onlyHTTPS checks a request, and how often it was redirected.
func onlyHTTPS(q *http.Request, via []*http.Request) error {
	if q.URL.Scheme != "https" {
		return fmt.Errorf("%s is not an https:// URL", q.URL)
	}
	if len(via) > 3 {
		return errors.New("redirected too often")
	}
	return nil
}
