package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"teamdata/store/rows"
)

// IdempotencyTTL is how long an answer is kept, counted from the first use of
// its key.
const IdempotencyTTL = 24 * time.Hour

// Fingerprint identifies a request by method, path, API version and body.
type Fingerprint [sha256.Size]byte

// FingerprintOf returns the fingerprint of a request.
func FingerprintOf(method, path, version string, body []byte) Fingerprint {
	bodySum := sha256.Sum256(body)
	all := make([]byte, 0, 256)
	for _, part := range []string{method, path, version} {
		all = append(append(all, part...), 0)
	}
	return sha256.Sum256(append(all, bodySum[:]...))
}

// Answer is the exact answer to a request.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte

	// Kept replaces Body in replays when Body contains a secret that is shown
	// only once; nil: Body.
	Kept []byte
}

// OperatorKeys returns the OrgID under which the operator's idempotency keys for
// an org, or for none, are kept, apart from those of the org's clients: org ids
// contain no slash.
func OperatorKeys(orgID string) string { return "operator/" + orgID }

// IdempotencyRecord is the first answer given under a key of an org.
type IdempotencyRecord struct {
	OrgID       string      // of a request to the admin API after `operator/`; see OperatorKeys
	Key         string      // 1 to 255 printable ASCII characters
	Fingerprint Fingerprint // of method, 0, path, 0, API version, 0 and the SHA-256 of the body
	FirstUse    time.Time
	Answer      Answer
}

var idempotency = rows.Define(&rows.Table[IdempotencyRecord]{
	Kind: rows.Kind{
		Name: "idempotency", Noun: "idempotency record",
		Span: 6 * time.Hour, // a longer one keeps expired records for longer, a shorter one makes more to search
		At: func(value []byte) (at time.Time, err error) {
			c := rows.HeadOf(value)
			for range 3 { // org id, key, fingerprint
				c.Raw()
			}
			c.Time(&at)
			return at, c.Err()
		},
		KeyOf: func(dst, value []byte) ([]byte, error) {
			c := rows.HeadOf(value)
			org, key := c.Raw(), c.Raw()
			if len(key) == 0 {
				return dst, rows.ErrRecord
			}
			return append(append(append(dst, org...), 0), key...), nil
		},
		Owner: func(key, _ []byte) (rows.Owner, bool) {
			org, of, _ := bytes.Cut(key, []byte{0})
			return rows.Owner{Org: string(org), Key: string(of)}, true
		},
	},
	Key: func(dst []byte, r *IdempotencyRecord) []byte { return rows.Pair(dst, r.OrgID, r.Key) },
	Fields: func(c *rows.Codec, r *IdempotencyRecord) {
		c.Text(&r.OrgID)
		c.Text(&r.Key)
		c.Hash((*[32]byte)(&r.Fingerprint))
		c.Time(&r.FirstUse)
		c.Int(&r.Answer.Status)
		c.Text(&r.Answer.ContentType)
		c.Bytes(&r.Answer.Body)
	},
})

// IdempotencyRecord returns notFound once the record is as old as IdempotencyTTL.
func (t Tx) IdempotencyRecord(orgID, key string) (IdempotencyRecord, error) {
	r, err := idempotency.Find(t.Tx, t.Pair(orgID, key))
	if err == rows.ErrNone || err == nil && !r.FirstUse.After(t.Now().Add(-IdempotencyTTL)) {
		return IdempotencyRecord{}, Errorf(CodeNotFound, "The Idempotency-Key was not used.")
	}
	return r, stored(err)
}

func (t Tx) AddIdempotencyRecord(r IdempotencyRecord) error { return idempotency.Put(t.Tx, &r) }

// ExpireIdempotencyRecords drops up to limit expired records, oldest first, or
// more if that costs no more. It returns how many, or about how many if they are
// thousands; 0 means that none is left that can be dropped now.
func (t Tx) ExpireIdempotencyRecords(limit int) (int, error) {
	return t.Expire(&idempotency.Kind, t.Now().Add(-IdempotencyTTL), limit)
}

// IdempotencyKeys lists up to limit keys of an org in their order, expired ones too,
// after one, "" at first. It returns the last of them if there may be more.
func (t Tx) IdempotencyKeys(orgID, after string, limit int) (keys []string, last string, err error) {
	r := rows.Range{Index: rows.ByKey, Bounds: rows.Below(orgID, after), Limit: limit}
	err = t.Scan(&idempotency.Kind, r, func(item rows.Item) bool {
		keys = append(keys, string(item.Key[len(orgID)+1:]))
		return true
	})
	if len(keys) == limit {
		last = keys[limit-1]
	}
	return keys, last, stored(err)
}

// DeleteIdempotencyRecord deletes a record, if there is one.
func (t Tx) DeleteIdempotencyRecord(orgID, key string) error {
	return idempotency.Drop(t.Tx, t.Pair(orgID, key))
}

// ValidIdempotencyKey reports whether a key is 1 to 255 printable ASCII
// characters.
func ValidIdempotencyKey(key string) bool {
	return key != "" && len(key) <= 255 && !strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e })
}

// Idempotency executes requests at most once per org and key. Running requests
// are tracked in memory only, and a record commits with its work, so a crash
// leaves no key stuck. The zero value is ready to use.
type Idempotency struct {
	mu      sync.Mutex
	running map[IdempotencyKey]Fingerprint
}

// Do runs work in one Update of s and keeps its answer under the key, or returns
// the kept answer (replayed is true). The scope is that of the work, with the key's
// org; the key is added to it. Do returns conflict while the same request
// runs, and idempotencyMismatch if the key was used with a different one. With an
// empty key the work just runs. The work must check before it writes: any answer
// that it returns is kept and committed, whatever its status; an error is not
// kept and rolls the work back.
func (i *Idempotency) Do(ctx context.Context, s Store, scope Scope, key IdempotencyKey, print Fingerprint, work func(Tx) (Answer, error)) (Answer, bool, error) {
	if key.Key != "" {
		if running, ok := i.begin(key, print); !ok {
			return whileRunning(ctx, s, key, print, running)
		}
		defer i.end(key)
	}
	d := &doing{key: [1]IdempotencyKey{key}, print: print, work: work}
	if key.Key != "" {
		scope.Keys = d.key[:]
	}
	err := s.Update(ctx, scope, d.run)
	return d.answer, d.replayed, err
}

// doing is a running Do.
type doing struct {
	key      [1]IdempotencyKey // an array, so that the scope of it costs no more memory
	print    Fingerprint
	work     func(Tx) (Answer, error)
	answer   Answer
	replayed bool
}

func (d *doing) run(tx Tx) (err error) {
	if d.key[0].Key == "" {
		d.answer, err = d.work(tx)
		return err
	}
	d.answer, d.replayed, err = once(tx, d.key[0], d.print, d.work)
	return err
}

// DoLong is Do for work that runs its own transactions and may be repeated: after
// a crash the same request runs again.
func (i *Idempotency) DoLong(ctx context.Context, s Store, k IdempotencyKey, print Fingerprint, work func() (Answer, error)) (a Answer, replayed bool, err error) {
	if k.Key == "" {
		a, err = work()
		return a, false, err
	}
	if running, ok := i.begin(k, print); !ok {
		return whileRunning(ctx, s, k, print, running)
	}
	defer i.end(k)
	held, err := s.Hold(ctx, "request "+k.OrgID+" "+k.Key, func(ctx context.Context) error {
		if a, replayed, err = replay(ctx, s, k, print); err != nil || replayed {
			return err
		}
		if a, err = work(); err != nil {
			return err
		}
		scope := InOrg(k.org())
		scope.Keys = []IdempotencyKey{k}
		return s.Update(ctx, scope, func(tx Tx) error { return keep(tx, k, print, a) })
	})
	switch {
	case err != nil:
		return Answer{}, false, err
	case !held: // by another node: which request it runs is not known here
		return whileRunning(ctx, s, k, print, print)
	}
	return a, replayed, nil
}

// begin marks a request as running, unless another one with its key is.
func (i *Idempotency) begin(k IdempotencyKey, print Fingerprint) (running Fingerprint, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if running, taken := i.running[k]; taken {
		return running, false
	}
	if i.running == nil {
		i.running = make(map[IdempotencyKey]Fingerprint)
	}
	i.running[k] = print
	return print, true
}

// whileRunning answers a request whose key another one is using. That one may
// itself be a replay: then both get the kept answer.
func whileRunning(ctx context.Context, s Store, k IdempotencyKey, print, running Fingerprint) (a Answer, replayed bool, err error) {
	a, replayed, err = replay(ctx, s, k, print)
	switch {
	case err != nil || replayed:
		return a, replayed, err
	case running != print:
		return Answer{}, false, errMismatch
	}
	return Answer{}, false, Errorf(CodeConflict, "A request with the same Idempotency-Key is still running.")
}

// replay returns the kept answer, if there is one. It is answered from an Update, whose
// commit it waits for: a View may see what a failover of the database loses.
func replay(ctx context.Context, s Store, k IdempotencyKey, print Fingerprint) (a Answer, replayed bool, err error) {
	look := func(tx Tx) (err error) {
		a, replayed, err = kept(tx, k, print)
		return err
	}
	if err = s.View(ctx, look); err == nil && replayed {
		scope := InOrg(k.org())
		scope.Keys = []IdempotencyKey{k}
		err = s.Update(ctx, scope, look)
	}
	return a, replayed, err
}

func (i *Idempotency) end(k IdempotencyKey) {
	i.mu.Lock()
	delete(i.running, k)
	i.mu.Unlock()
}

func once(tx Tx, k IdempotencyKey, print Fingerprint, work func(Tx) (Answer, error)) (a Answer, replayed bool, err error) {
	if a, replayed, err = kept(tx, k, print); err != nil || replayed {
		return a, replayed, err
	}
	if a, err = work(tx); err != nil {
		return Answer{}, false, err
	}
	return a, false, keep(tx, k, print, a)
}

// keep keeps an answer, unless it is about an org that was deleted meanwhile.
func keep(tx Tx, k IdempotencyKey, print Fingerprint, a Answer) error {
	if removed, err := tx.OrgRemoved(k.org()); removed || err != nil {
		return err
	}
	if a.Kept != nil {
		a.Body, a.Kept = a.Kept, nil
	}
	return tx.AddIdempotencyRecord(IdempotencyRecord{
		OrgID: k.OrgID, Key: k.Key, Fingerprint: print, FirstUse: tx.Now(), Answer: a,
	})
}

// kept finds the first answer given under a key, unless its org was deleted since.
func kept(tx Tx, k IdempotencyKey, print Fingerprint) (a Answer, found bool, err error) {
	if removed, err := tx.OrgRemoved(k.org()); removed || err != nil {
		return Answer{}, false, err
	}
	record, err := tx.IdempotencyRecord(k.OrgID, k.Key)
	switch {
	case IsNotFound(err):
		return Answer{}, false, nil
	case err != nil:
		return Answer{}, false, err
	case record.Fingerprint != print:
		return Answer{}, false, errMismatch
	}
	return record.Answer, true, nil
}

var errMismatch = Errorf(CodeIdempotencyMismatch, "The Idempotency-Key was used with a different request.")
