package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// Kind is a kind of record that is carried from one engine to another.
type Kind string

// The kinds, and the parts of their keys. Text in a key that another part follows ends
// with a zero byte, numbers are 8 bytes big-endian. A record is as its table has it,
// if nothing else is said; secrets in it stay sealed.
const (
	KindOrg              Kind = "orgs"             // org id
	KindRemovedOrg       Kind = "removedOrgs"      // org id → nothing
	KindPlan             Kind = "plans"            // name
	KindMember           Kind = "members"          // org id, user id
	KindAudit            Kind = "auditLog"         // org id, createdAt ms, entry id → the item's JSON
	KindLastRemoved      Kind = "lastRemoved"      // org id → org id, 0, createdAt ms and id of a removed member whom no other follows
	KindInstructions     Kind = "instructions"     // org id
	KindAPIKey           Kind = "apiKeys"          // key id
	KindKeyUse           Kind = "keyUse"           // key id
	KindEndpointNumber   Kind = "endpointSequence" // nothing → the endpoint number given last, if any was
	KindEndpoint         Kind = "endpoints"        // org id, endpoint id
	KindRemovedEndpoint  Kind = "removedEndpoints" // endpoint number → nothing
	KindEventType        Kind = "eventTypes"       // event type
	KindEvent            Kind = "events"           // event id
	KindDelivery         Kind = "deliveries"       // delivery id → the delivery, with its event where they share a row
	KindLastAcknowledged Kind = "lastAcknowledged" // endpoint number → ms, as a number
	KindDeliveryCounts   Kind = "deliveryCounts"   // hours since 1970, org id, endpoint number
	KindReplayJob        Kind = "replayJobs"       // job id
	KindMail             Kind = "mails"            // mail id
	KindIdempotency      Kind = "idempotency"      // org id, key → the record written last
	KindCertificate      Kind = "certificates"     // name → PEM
	KindOperatorToken    Kind = "operatorTokens"   // token id
	KindAccount          Kind = "accounts"         // user id
	KindSession          Kind = "sessions"         // session id
	KindSignInLink       Kind = "signInLinks"      // link id
)

// Kinds are all kinds, in the order in which they are carried.
var Kinds = []Kind{
	KindOrg, KindRemovedOrg, KindPlan, KindMember, KindAudit, KindLastRemoved, KindInstructions, KindAPIKey, KindKeyUse,
	KindEndpointNumber, KindEndpoint, KindRemovedEndpoint, KindEventType, KindEvent, KindDelivery, KindLastAcknowledged,
	KindDeliveryCounts, KindReplayJob, KindMail, KindIdempotency, KindCertificate, KindOperatorToken, KindAccount, KindSession, KindSignInLink,
}

// NumbersOf is the kind of rows whose number given last is the record of a Kind; nil: the
// Kind has no such record.
func NumbersOf(kind Kind) *rows.Kind {
	if kind == KindEndpointNumber {
		return &endpoints.Kind
	}
	return nil
}

// rowsOf are the rows that a Kind is; nil: it is something else.
func rowsOf(kind Kind) *rows.Kind {
	all := rows.Kinds()
	i := slices.IndexFunc(all, func(k *rows.Kind) bool { return k.Name == string(kind) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// EachRecord is called with a record, whose bytes are valid until it returns.
type EachRecord func(kind Kind, key, record []byte) error

// Source is the data of an engine, which does not change meanwhile.
type Source interface {
	// Dump calls fn with all records, kind by kind, each in the order of its keys. What
	// an engine keeps beside them, such as indexes, it makes itself.
	Dump(ctx context.Context, fn EachRecord) error
}

// Carrier is an engine that the records of another one are carried to.
type Carrier interface {
	Source
	// Load adds the records that fill puts to an engine which holds none. They come in
	// the order of Dump.
	Load(ctx context.Context, fill func(put EachRecord) error) error
}

// Carried is what was carried.
type Carried struct {
	Counts map[Kind]int
	SHA256 [sha256.Size]byte // of all that Dump yields
}

// Total is the number of records.
func (c *Carried) Total() (n int) {
	for _, count := range c.Counts {
		n += count
	}
	return n
}

// Carry carries all records, reads them back, and compares both. progress is called now
// and then with the kind and the number of its records that were carried, or read back.
func Carry(ctx context.Context, from Source, to Carrier, progress func(kind Kind, n int, readBack bool)) (Carried, error) {
	there := newDigest(ctx, func(kind Kind, n int) { progress(kind, n, false) })
	err := to.Load(ctx, func(put EachRecord) error {
		return from.Dump(ctx, func(kind Kind, key, record []byte) error {
			if err := there.add(kind, key, record); err != nil {
				return err
			}
			if k := rowsOf(kind); k != nil {
				if _, err := k.Records.Decode(record); err != nil {
					return fmt.Errorf("%s %q: %w", kind, key, err)
				}
			}
			return put(kind, key, record)
		})
	})
	if err != nil {
		return Carried{}, err
	}
	back := newDigest(ctx, func(kind Kind, n int) { progress(kind, n, true) })
	if err := to.Dump(ctx, back.add); err != nil {
		return Carried{}, err
	}
	want, got := there.sum(), back.sum()
	if want.SHA256 != got.SHA256 {
		return Carried{}, fmt.Errorf("what was carried is not what is there: %x, not %x%s", got.SHA256, want.SHA256, countsApart(want, got))
	}
	return want, nil
}

// countsApart names the kinds of which two sides have different numbers.
func countsApart(want, got Carried) string {
	var b strings.Builder
	for _, kind := range Kinds {
		if want.Counts[kind] != got.Counts[kind] {
			fmt.Fprintf(&b, "; %s: %d of %d", kind, got.Counts[kind], want.Counts[kind])
		}
	}
	return b.String()
}

// digest adds up what a Dump yields.
type digest struct {
	ctx      context.Context
	progress func(kind Kind, n int)
	hash     hash.Hash
	head     []byte
	counts   map[Kind]int
}

func newDigest(ctx context.Context, progress func(Kind, int)) *digest {
	return &digest{ctx: ctx, progress: progress, hash: sha256.New(), counts: map[Kind]int{}}
}

// progressAfter is the number of records after which progress is told.
const progressAfter = 1000

func (d *digest) add(kind Kind, key, record []byte) error {
	n := d.counts[kind] + 1
	if d.counts[kind] = n; n%progressAfter == 1 {
		if err := context.Cause(d.ctx); err != nil {
			return err
		}
		d.progress(kind, n)
	}
	d.head = d.head[:0] // each part behind its length, so that no two dumps are alike
	for _, size := range []int{len(kind), len(key), len(record)} {
		d.head = binary.AppendUvarint(d.head, uint64(size))
	}
	d.hash.Write(append(d.head, kind...))
	d.hash.Write(key)
	d.hash.Write(record)
	return nil
}

func (d *digest) sum() Carried {
	return Carried{Counts: d.counts, SHA256: [sha256.Size]byte(d.hash.Sum(nil))}
}
