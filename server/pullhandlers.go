package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"teamdata/client/api"
	"teamdata/internal/signature"
	"teamdata/store"
	"teamdata/wire/strictjson"
	"teamdata/wire/web"
)

const (
	defaultPullLimit = 50
	maxLeases        = store.MaxPulled // that are given back or extended at once: those of one pull
)

// decode reads a request's body, which may be empty if it has no required fields. These are
// given as pairs of a name and a description.
func decode[T any](r *request, required ...string) (body T, err error) {
	text, err := r.ReadBody(maxBody)
	if err != nil || len(text) == 0 && required == nil {
		return body, err
	}
	in := strictjson.New(bytes.NewReader(text), maxBody)
	err = in.Document(in.Struct(&body, required...)...)
	return body, err
}

// orElse is the value of an optional field.
func orElse(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

func seconds(n *int, otherwise time.Duration) time.Duration {
	return time.Duration(orElse(n, int(otherwise/time.Second))) * time.Second
}

// pullRequest is what a consumer asks for.
type pullRequest struct {
	store.PullRequest
	wait time.Duration
}

func (r *request) readPull() (p pullRequest, err error) {
	body, err := decode[api.Pull](r)
	if err != nil {
		return p, err
	}
	p.Limit, p.Lease, p.wait = orElse(body.Limit, defaultPullLimit), seconds(body.LeaseSeconds, store.DefaultLease), seconds(body.WaitSeconds, 0)
	if body.Ack != nil {
		p.Ack = *body.Ack
	}
	return p, checkCount("ack", len(p.Ack), 0, store.MaxAcked)
}

func checkCount(field string, n, least, most int) error {
	if n < least || n > most {
		return store.Invalid(field, "has %d deliveries; %d to %d are expected", n, least, most)
	}
	return nil
}

// pullDeliveries acknowledges deliveries, and answers those that are due, or waits for the
// first.
func (r *request) pullDeliveries() error {
	p, err := r.readPull()
	if err != nil {
		return err
	}
	claims, due, err := r.pull(&p)
	if err == nil && claims == nil && p.wait > 0 {
		p.Ack = nil
		claims, err = r.waitForDeliveries(&p, due.endpoint)
	}
	if err != nil {
		return err
	}
	return r.answerDeliveries(claims)
}

// pullDue is what a pull has found that got no delivery.
type pullDue struct {
	endpoint uint64
	at       time.Time // from when on one is due; zero: not known
}

// lookAgain is when to look again for what was due and could not be leased.
const lookAgain = time.Second

// pull pulls once; nil: it got nothing. What would change nothing only looks.
func (r *request) pull(p *pullRequest) (pulled *store.Claims, due pullDue, err error) {
	key, id := &r.access.Key, r.Param("endpoint")
	if len(p.Ack) == 0 {
		var worth bool
		err := r.s.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
			due, worth, err = lookAtPull(tx, key, id)
			return err
		})
		if err != nil || !worth {
			return nil, due, err
		}
	}
	p.Key = key
	var claims store.Claims
	err = r.s.store.Update(r.HTTP.Context(), r.pullScope(p.Ack), func(tx store.Tx) (err error) {
		claims, err = store.Pull(tx, id, p.PullRequest)
		return err
	})
	due.endpoint = claims.Endpoint.Number
	if err == nil && len(claims.Claims) > 0 {
		return &claims, due, nil
	}
	if now := r.s.config.Now(); !due.at.IsZero() && !due.at.After(now) {
		due.at = now.Add(lookAgain) // somebody else was faster
	}
	return nil, due, err
}

// lookAtPull returns what a pull would find, and whether it would lease or write something.
func lookAtPull(tx store.Tx, key *store.APIKey, id string) (due pullDue, worth bool, err error) {
	e, err := store.FindOpenPull(tx, key, id)
	if err != nil {
		return due, false, err
	}
	due.endpoint = e.Number
	if due.at, err = tx.PullDue(e.Number); err != nil {
		return due, false, err
	}
	if !due.at.IsZero() && !due.at.After(tx.Now()) {
		return due, true, nil
	}
	last, err := tx.LastPulled(e.Number)
	return due, last.Outdated(tx.Now()), err
}

// pullScope is that of an Update of some deliveries.
func (r *request) pullScope(ids []string) store.Scope {
	scope := store.InOrg(r.access.Key.OrgID)
	scope.Deliveries = ids
	return scope
}

func (r *request) ackDeliveries() error {
	body, err := decode[api.Acknowledgment](r, "ids", "the ids of the deliveries that were handled")
	if err == nil {
		err = checkCount("ids", len(body.Ids), 1, store.MaxAcked)
	}
	if err != nil {
		return err
	}
	return r.answerDone(r.s.store.Update(r.HTTP.Context(), r.pullScope(body.Ids), func(tx store.Tx) error {
		return store.AckDeliveries(tx, &r.access.Key, r.Param("endpoint"), body.Ids)
	}))
}

// aboutLeased describes the field deliveries.
const aboutLeased = "the deliveries, each with its id and its lease"

func (r *request) nackDeliveries() error {
	body, err := decode[api.Nack](r, "deliveries", aboutLeased)
	if err != nil {
		return err
	}
	var delay *time.Duration
	if body.DelaySeconds != nil {
		delay = new(seconds(body.DelaySeconds, 0))
	}
	reason := ""
	if body.Reason != nil {
		reason = *body.Reason
	}
	leases, ids, err := leasesOf(body.Deliveries)
	if err != nil {
		return err
	}
	return r.answerDone(r.s.store.Update(r.HTTP.Context(), r.pullScope(ids), func(tx store.Tx) error {
		return store.NackDeliveries(tx, &r.access.Key, r.Param("endpoint"), leases, reason, delay, r.s.config.RetrySchedule)
	}))
}

func (r *request) extendLeases() error {
	body, err := decode[api.Extension](r, "deliveries", aboutLeased)
	if err != nil {
		return err
	}
	leases, ids, err := leasesOf(body.Deliveries)
	if err != nil {
		return err
	}
	var claims store.Claims
	err = r.s.store.Update(r.HTTP.Context(), r.pullScope(ids), func(tx store.Tx) (err error) {
		claims, err = store.ExtendLeases(tx, &r.access.Key, r.Param("endpoint"), leases, seconds(body.LeaseSeconds, store.DefaultLease))
		return err
	})
	if err != nil {
		return err
	}
	return r.answerDeliveries(&claims)
}

// leasesOf returns what a consumer named, and the ids of its deliveries. badRequest, which
// names the place: there are none or more than maxLeases, or an id or a lease is left out.
func leasesOf(given []api.LeasedDelivery) (leases []store.LeaseOf, ids []string, err error) {
	if err := checkCount("deliveries", len(given), 1, maxLeases); err != nil {
		return nil, nil, err
	}
	for i, d := range given {
		for _, field := range [][2]string{{"id", d.ID}, {"lease", d.Lease}} {
			if field[1] == "" {
				return nil, nil, store.Invalid(fmt.Sprintf("deliveries[%d].%s", i, field[0]), "is missing or empty").Advise("take it from the answer to the pull")
			}
		}
		leases, ids = append(leases, store.LeaseOf{DeliveryID: d.ID, Lease: d.Lease}), append(ids, d.ID)
	}
	return leases, ids, nil
}

func (r *request) answerDone(err error) error {
	if err == nil {
		r.answer(web.JSON(http.StatusOK, []byte("{}")))
	}
	return err
}

// answerDeliveries answers deliveries as they would be pushed now; nil: none.
func (r *request) answerDeliveries(c *store.Claims) error {
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	*body = append((*body)[:0], `{"deliveries":[`...)
	if c != nil {
		if err := appendDeliveries(body, c, r.s.config.Now()); err != nil {
			return err
		}
	}
	*body = append(*body, "]}"...)
	if r.s.stopping.Load() {
		r.W.Header()["Connection"] = web.Close
	}
	r.answer(web.JSON(http.StatusOK, *body))
	return nil
}

func appendDeliveries(b *[]byte, c *store.Claims, now time.Time) error {
	secrets, err := signature.ParseSecrets(c.Endpoint.Secrets(now)...)
	if err != nil {
		return err
	}
	for i := range c.Claims {
		if i > 0 {
			*b = append(*b, ',')
		}
		*b = appendPulled(*b, &c.Claims[i], now.Unix(), secrets)
	}
	return nil
}

// appendPulled appends a delivery, with the headers of a push as fields.
func appendPulled(b []byte, c *store.Claim, timestamp int64, secrets []signature.Secret) []byte {
	lease := c.Delivery.Lease()
	b = append(append(append(b, `{"id":"`...), c.Delivery.ID...), `","timestamp":"`...)
	b = append(strconv.AppendInt(b, timestamp, 10), `","signature":"`...)
	b = append(signature.Sign(b, c.Delivery.ID, timestamp, c.Body, secrets...), `","body":`...)
	b = append(store.AppendJSONString(b, string(c.Body)), `,"lease":`...)
	b = append(store.AppendJSONString(b, lease.ID), `,"leaseEndsAt":"`...)
	return append(append(b, store.FormatTime(lease.EndsAt)...), `"}`...)
}
