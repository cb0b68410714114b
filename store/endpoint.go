package store

import (
	"cmp"
	"slices"
	"time"

	"teamdata/internal/canonical"
	"teamdata/store/rows"
)

// Endpoint is where an org receives events: an address that they are sent to, or without
// one a list that a consumer pulls from.
type Endpoint struct {
	Number      uint64 // names it in `deliveryLists`; assigned by the engine, never reused; from 2^62 on if it is pulled
	ID          string // unique in the org
	OrgID       string
	URL         string // https, at most 2,048 characters, no userinfo, no fragment; see Apart and canonical.URL; empty: it is pulled
	Description string
	Events      []string // what it receives: event types that are built in or in `eventTypes`, groups such as `member.*` for all that begin with `member.`, or `*` for all; at least one
	Secret      string   // `whsec_` and the base64 of 24 to 64 bytes; sealed in a sealed file
	CreatedAt   time.Time
	DisabledAt  time.Time // zero: enabled

	OldSecret      string    // also signs until oldSecretUntil; empty: none; sealed in a sealed file
	OldSecretUntil time.Time // zero: there is no old secret

	DisabledBy     string // the actor who disabled it; empty: the system, or it is enabled
	DisabledReason string // after what the system disabled it, such as "6 failed attempts: …"; empty: it did not

	VerifiedAt time.Time // when a request that it got was first verified on the settings page; zero: not yet

	Sending SendOptions // how events are sent there; zero: as to any other, and always of one that is pulled
}

// Bounds of an endpoint.
const (
	MaxEndpoints    = 50  // per org
	maxDescriptions = 500 // characters

	maxDisabledReason = 1000 // characters
)

var endpoints = rows.Define(&rows.Table[Endpoint]{
	Kind: rows.Kind{Name: "endpoints", Noun: "webhook endpoint", Numbers: true, Owner: ownerOfEndpoint, Owners: rows.OfOrg},
	Key:  func(dst []byte, e *Endpoint) []byte { return rows.Pair(dst, e.OrgID, e.ID) },
	Fields: func(c *rows.Codec, e *Endpoint) {
		endpointHead(c, e)
		c.Text(&e.OldSecret)
		c.Time(&e.OldSecretUntil)
		c.Text(&e.DisabledBy)
		c.Text(&e.DisabledReason)
		c.Time(&e.VerifiedAt)
		sendingFields(c, &e.Sending)
	},
	Head: endpointHead,
	Secrets: func(e *Endpoint) []rows.Secret {
		return []rows.Secret{
			{Name: "secret", Text: &e.Secret}, {Name: "oldSecret", Text: &e.OldSecret},
			{Name: "headerLines", Text: &e.Sending.HeaderLines}, {Name: "clientKey", Text: &e.Sending.ClientKey},
		}
	},
	By: []rows.By[Endpoint]{{
		Index: rows.Index{Name: "endpointNumbers", Record: func(dst, _, key []byte) []byte { return append(dst, key...) }},
		Key:   func(dst []byte, e *Endpoint) []byte { return rows.Number(dst, e.Number) },
		Value: func(dst []byte, e *Endpoint) []byte { return rows.Pair(dst, e.OrgID, e.ID) },
	}},
	Checks: func(c *rows.Checker, _ []byte, e *Endpoint) {
		c.Look(&removedEndpoints.Kind, rows.Number(nil, e.Number), func(value []byte) {
			if value != nil {
				c.Fault("endpoints %q %q: its number %d is that of a removed one, too", e.OrgID, e.ID, e.Number)
			}
		})
		if e.Pull() && e.URL != "" {
			c.Fault("endpoints %q %q: its number %d says that it is pulled, and it has a URL", e.OrgID, e.ID, e.Number)
		}
		if !e.Pull() && e.URL == "" {
			c.Fault("endpoints %q %q: its number %d says that events are sent to it, and it has no URL", e.OrgID, e.ID, e.Number)
		}
	},
})

// ownerOfEndpoint is its org, which knows the number from the record.
func ownerOfEndpoint(key, value []byte) (rows.Owner, bool) {
	owner, _ := rows.OrgInKey(key, nil)
	c := rows.HeadOf(value)
	c.Number(&owner.Number)
	return owner, true
}

// endpointHead are the first fields, up to the one that says whether it is disabled.
func endpointHead(c *rows.Codec, e *Endpoint) {
	c.Number(&e.Number)
	c.Text(&e.ID)
	c.Text(&e.OrgID)
	c.Text(&e.URL)
	c.Text(&e.Description)
	c.Texts(&e.Events)
	c.Text(&e.Secret)
	c.Time(&e.CreatedAt)
	c.Time(&e.DisabledAt)
}

// endpointNumbers is the index of endpoints by their numbers.
const endpointNumbers = 0

// removedEndpoints are the numbers of those of which deliveries may still exist.
var removedEndpoints = rows.Define(&rows.Table[uint64]{
	Kind:     rows.Kind{Name: "removedEndpoints", Noun: "removed webhook endpoint", Owner: rows.NumberInKey},
	Key:      func(dst []byte, number *uint64) []byte { return rows.Number(dst, *number) },
	Fields:   func(*rows.Codec, *uint64) {},
	Complete: func(key []byte, number *uint64) { *number = rows.ReadNumber(key) },
})

// Endpoint is what every outcome reads, often of the same one.
func (t Tx) Endpoint(orgID, id string) (Endpoint, error) {
	e, err := endpoints.FindAgain(t.Tx, t.Pair(orgID, id))
	return e, missing(endpoints, err)
}

// EndpointByNumber is for engines, which know the numbers of endpoints.
func (t Tx) EndpointByNumber(number uint64) (Endpoint, error) {
	e, err := endpoints.FindBy(t.Tx, endpointNumbers, rows.Number(nil, number))
	return e, missing(endpoints, err)
}

// OpenEndpoint reads what an engine found under a key.
func (t Tx) OpenEndpoint(key, value []byte) (Endpoint, error) {
	e, err := endpoints.Open(t.Tx, key, value)
	return e, stored(err)
}

// ReadEndpoint is OpenEndpoint, and leaves the secrets sealed.
func ReadEndpoint(key, value []byte) (Endpoint, error) {
	e, err := endpoints.Read(key, value)
	return e, stored(err)
}

// IsDisabled reads from a stored endpoint only whether it is disabled, for callers that go
// through all endpoints.
func (t Tx) IsDisabled(value []byte) (bool, error) {
	e, err := endpoints.ReadHead(t.Tx, value)
	return e.Disabled(), stored(err)
}

// Endpoints lists the org's endpoints in order of id.
func (t Tx) Endpoints(orgID string) ([]Endpoint, error) {
	return list(endpoints, t, rows.ByKey, rows.Below(orgID, ""), unlimited)
}

// AddEndpoint adds an endpoint and assigns its number, of the kind that it has.
func (t Tx) AddEndpoint(e Endpoint) (_ Endpoint, err error) {
	number, err := t.Next(&endpoints.Kind)
	if err != nil {
		return Endpoint{}, err
	}
	e.Number = number | e.Number&FirstPull
	return e, endpoints.Put(t.Tx, &e)
}

func (t Tx) PutEndpoint(e Endpoint) error {
	if err := endpoints.Put(t.Tx, &e); err != nil || e.Disabled() {
		return err
	}
	at, waits, err := t.firstDue(e.Number)
	if e.Pull() && err == nil {
		at, err = t.PullDue(e.Number)
		waits = !at.IsZero()
	}
	if waits {
		t.Changed().Due(e.Number, at)
	}
	return err
}

// DeleteEndpoint removes an endpoint and lists its number among the removed
// ones, whose remaining deliveries are never due.
func (t Tx) DeleteEndpoint(e Endpoint) error {
	if err := endpoints.Drop(t.Tx, t.Pair(e.OrgID, e.ID)); err != nil {
		return err
	}
	return removedEndpoints.Put(t.Tx, &e.Number)
}

// RemovedEndpoints lists up to limit numbers of removed endpoints that are
// not yet forgotten, in ascending order.
func (t Tx) RemovedEndpoints(limit int) ([]uint64, error) {
	return list(removedEndpoints, t, rows.ByKey, rows.Bounds{}, limit)
}

// ForgetEndpoint drops what is left of a removed endpoint that has no
// deliveries.
func (t Tx) ForgetEndpoint(number uint64) error {
	if err := removedEndpoints.Drop(t.Tx, rows.Number(nil, number)); err != nil {
		return err
	}
	if err := lastPulled.Drop(t.Tx, rows.Number(nil, number)); err != nil {
		return err
	}
	if err := grants.Drop(t.Tx, rows.Number(nil, number)); err != nil {
		return err
	}
	return lastAcknowledged.Drop(t.Tx, rows.Number(nil, number))
}

// HeldSince returns since when a disabled endpoint has held a delivery: since it
// was due or since the endpoint was disabled, whichever is later. Enabling the
// endpoint and disabling it again restarts the time.
func (e *Endpoint) HeldSince(due time.Time) time.Time {
	if due.Before(e.DisabledAt) {
		return e.DisabledAt
	}
	return due
}

// Label is what people call the endpoint: its description, or else its id.
func (e *Endpoint) Label() string { return cmp.Or(e.Description, e.ID) }

// Disabled reports whether the endpoint is disabled: its events are held.
func (e *Endpoint) Disabled() bool { return !e.DisabledAt.IsZero() }

func (e *Endpoint) check(tx Tx) error {
	err := cmp.Or(
		checkID("id", e.ID),
		checkEndpointSecret("secret", e.Secret),
	)
	if err == nil && e.OldSecret != "" {
		err = checkEndpointSecret("oldSecret", e.OldSecret)
	}
	if err != nil {
		return err
	}
	return checkSelections(tx, e.Events)
}

// checkDisabled checks who disabled an imported endpoint, and why.
func (e *Endpoint) checkDisabled() error {
	switch {
	case !e.Disabled() && e.DisabledBy != "":
		return Invalid("disabledBy", "is allowed only with disabledAt")
	case !e.Disabled() && e.DisabledReason != "":
		return Invalid("disabledReason", "is allowed only with disabledAt")
	}
	return cmp.Or(checkLength("disabledBy", e.DisabledBy, maxNameLength), checkLength("disabledReason", e.DisabledReason, maxDisabledReason))
}

// checkOldSecret checks that an imported old secret is one that a rotation could
// have left.
func (e *Endpoint) checkOldSecret(now time.Time) error {
	switch {
	case (e.OldSecret == "") != e.OldSecretUntil.IsZero():
		return Invalid("oldSecretUntil", "is required with oldSecret, and allowed only with it")
	case e.OldSecretUntil.After(now.Add(MaxSecretOverlap)):
		return Invalid("oldSecretUntil", "is more than 7 days ahead").Advise("an old secret signs for at most that long")
	}
	return nil
}

// checkDescription accepts nil, an unchanged description, which may predate the
// rule.
func checkDescription(d *string) error {
	if d == nil {
		return nil
	}
	return checkOptional("description", *d, maxDescriptions)
}

// CreateEndpoint adds an endpoint, as ImportEndpoint does, with the audit entry
// endpoint.created.
func CreateEndpoint(tx Tx, actorID string, e Endpoint) (Endpoint, error) {
	e, err := ImportEndpoint(tx, e)
	if err == nil {
		err = e.Sending.checkNotEnded(tx.Now())
	}
	return e, auditBy(err, tx, actorID, e.OrgID, "endpoint.created", e.ID)
}

// ImportEndpoint adds an endpoint without an audit entry, as a fixture does. A
// missing id, secret or creation time is filled in; the engine gives the
// number. One without a URL is pulled; see [CheckKind].
func ImportEndpoint(tx Tx, e Endpoint) (Endpoint, error) {
	fillIn(tx, PrefixEndpoint, &e.ID, &e.CreatedAt)
	if e.Number = 0; e.URL == "" {
		e.Number = FirstPull // which says its kind until it has its own
	}
	if e.Secret == "" {
		e.Secret = NewEndpointSecret()
	}
	if err := cmp.Or(e.setURL(tx, e.URL), e.check(tx), e.checkSending(), checkDescription(&e.Description), e.checkOldSecret(tx.Now()), e.checkDisabled(),
		checkHappened(tx, "createdAt", e.CreatedAt), checkHappened(tx, "disabledAt", e.DisabledAt), checkHappened(tx, "verifiedAt", e.VerifiedAt), checkOrg(tx, e.OrgID)); err != nil {
		return Endpoint{}, err
	}
	others, err := tx.Endpoints(e.OrgID)
	if err != nil {
		return Endpoint{}, err
	}
	if slices.ContainsFunc(others, func(o Endpoint) bool { return o.ID == e.ID }) {
		return Endpoint{}, &Error{Code: CodeConflict, Field: "id", Message: "an endpoint " + e.ID + " exists already in the org"}
	}
	if len(others) >= MaxEndpoints {
		return Endpoint{}, Errorf(CodeConflict, "An org has at most %d endpoints.", MaxEndpoints).Advise("Remove one first.")
	}
	return tx.AddEndpoint(e)
}

// EndpointChange lists the changes to an endpoint; nil leaves a field as it is.
type EndpointChange struct {
	URL, Description *string
	Events           []string
	Sending          SendChange
}

// ChangeEndpoint changes an endpoint, with the audit entry endpoint.changed.
// Waiting deliveries go to the new address, in the new way. Identical values change nothing.
// notFound: the org has no such endpoint.
func ChangeEndpoint(tx Tx, actorID, orgID, id string, change EndpointChange) (Endpoint, error) {
	old, err := FindEndpoint(tx, orgID, id)
	if err != nil {
		return Endpoint{}, err
	}
	e := old
	if change.URL != nil { // one that is kept may predate a rule
		err = e.setURL(tx, *change.URL)
	}
	replace(&e.Description, change.Description)
	if change.Events != nil {
		e.Events = change.Events
	}
	if err := cmp.Or(err, e.changeSending(tx, change.Sending), e.check(tx), checkDescription(change.Description)); err != nil {
		return Endpoint{}, err
	}
	if e.URL == old.URL && e.Description == old.Description && slices.Equal(e.Events, old.Events) && e.Sending.Equal(&old.Sending) {
		return e, nil
	}
	return e, auditBy(tx.PutEndpoint(e), tx, actorID, orgID, "endpoint.changed", id)
}

// RemoveEndpoint removes an endpoint, with the audit entry endpoint.removed.
// Nothing more is sent or handed out there; the next Sweep drops its deliveries. API keys
// to pull from it alone are revoked. notFound: the
// org has no such endpoint.
func RemoveEndpoint(tx Tx, actorID, orgID, id string) error {
	e, err := FindEndpoint(tx, orgID, id)
	if err != nil {
		return err
	}
	if e.Pull() {
		err = leaveKeys(tx, actorID, orgID, id)
	}
	if err == nil {
		err = tx.DeleteEndpoint(e)
	}
	return auditBy(err, tx, actorID, orgID, "endpoint.removed", id)
}

// WithSameURL returns the ids of the org's other endpoints with e's URL, however that is
// written. It receives events that both select twice.
func WithSameURL(tx Tx, e Endpoint) (ids []string, err error) {
	if e.Pull() {
		return nil, nil
	}
	endpoints, err := tx.Endpoints(e.OrgID)
	for _, o := range endpoints {
		if o.ID != e.ID && !o.Pull() && sameURL(o.URL, e.URL) {
			ids = append(ids, o.ID)
		}
	}
	return ids, err
}

func sameURL(a, b string) bool {
	u, errA := canonical.URL(a)
	v, errB := canonical.URL(b)
	return a == b || errA == nil && errB == nil && u.String() == v.String()
}

// FindEndpoint finds an endpoint of an org. notFound: the org has no such
// endpoint.
func FindEndpoint(tx Tx, orgID, id string) (Endpoint, error) {
	e, err := tx.Endpoint(orgID, id)
	if IsNotFound(err) {
		return e, Errorf(CodeNotFound, "The org has no such webhook endpoint.")
	}
	return e, err
}

// ShowSecret finds an endpoint in order to show its secrets, with the audit entry
// endpoint.secretShown. notFound: the org has no such endpoint.
func ShowSecret(tx Tx, actorID, orgID, id string) (Endpoint, error) {
	e, err := FindEndpoint(tx, orgID, id)
	return e, auditBy(err, tx, actorID, orgID, "endpoint.secretShown", id)
}

// ShowHeaders finds an endpoint in order to show the values of its headers, with the audit
// entry endpoint.headersShown. notFound: the org has no such endpoint.
func ShowHeaders(tx Tx, actorID, orgID, id string) (Endpoint, error) {
	e, err := FindEndpoint(tx, orgID, id)
	return e, auditBy(err, tx, actorID, orgID, "endpoint.headersShown", id)
}

// NoteVerified records the first time that a request which an endpoint got was verified,
// without an audit entry: nothing is different for anybody. notFound: the org has no such
// endpoint.
func NoteVerified(tx Tx, orgID, id string) error {
	e, err := FindEndpoint(tx, orgID, id)
	if err != nil || !e.VerifiedAt.IsZero() {
		return err
	}
	e.VerifiedAt = tx.Now()
	return tx.PutEndpoint(e)
}

// DisableEndpoint disables an endpoint: from then on its events are held. An
// endpoint that is already disabled is unchanged. notFound: the org has no such
// endpoint.
func DisableEndpoint(tx Tx, actorID, orgID, id string) error {
	return setDisabled(tx, actorID, orgID, id, true, "")
}

// EnableEndpoint enables an endpoint: held deliveries are sent, in order. An
// endpoint that is already enabled is unchanged. notFound: the org has no such
// endpoint.
func EnableEndpoint(tx Tx, actorID, orgID, id string) error {
	return setDisabled(tx, actorID, orgID, id, false, "")
}

// setDisabled enables or disables an endpoint. reason says after what the system
// disabled it; empty: an actor did.
func setDisabled(tx Tx, actorID, orgID, id string, disabled bool, reason string) error {
	e, err := FindEndpoint(tx, orgID, id)
	if err != nil || e.Disabled() == disabled {
		return err
	}
	action := "endpoint.enabled"
	e.DisabledAt, e.DisabledBy, e.DisabledReason = time.Time{}, "", ""
	if disabled {
		e.DisabledAt, e.DisabledBy, e.DisabledReason, action = tx.Now(), actorID, reason, "endpoint.disabled"
	}
	if err := auditBy(tx.PutEndpoint(e), tx, actorID, orgID, action, id); err != nil {
		return err
	}
	if !disabled {
		return noteEnabled(tx, e.Number)
	}
	return signalOf(tx, &e, EventEndpointDisabled, jsonObject("orgId", orgID, "endpointId", id, "disabledBy", actorID, "reason", reason))
}

// MaxSecretOverlap is how long an endpoint's old secret may continue to sign
// alongside the new one.
const MaxSecretOverlap = 7 * 24 * time.Hour

// RotateSecret replaces an endpoint's secret with the given one, or with 32 new
// random bytes if it is empty. The old one continues to sign for the overlap,
// from 0 (none) to MaxSecretOverlap; one rotated out earlier stops signing.
// notFound: the org has no such endpoint.
func RotateSecret(tx Tx, actorID, orgID, id, secret string, overlap time.Duration) (Endpoint, error) {
	if secret == "" {
		secret = NewEndpointSecret()
	}
	if err := checkEndpointSecret("secret", secret); err != nil {
		return Endpoint{}, err
	}
	if overlap < 0 || overlap > MaxSecretOverlap {
		return Endpoint{}, Invalid("overlap", "must be from 0 (at once) to 7 days")
	}
	e, err := FindEndpoint(tx, orgID, id)
	if err != nil {
		return Endpoint{}, err
	}
	if secret == e.Secret {
		return Endpoint{}, Invalid("secret", "is the endpoint's secret already")
	}
	e.Secret, e.OldSecret, e.OldSecretUntil = secret, e.Secret, tx.Now().Add(overlap)
	if overlap == 0 {
		e.OldSecret, e.OldSecretUntil = "", time.Time{}
	}
	return e, auditBy(tx.PutEndpoint(e), tx, actorID, orgID, "endpoint.secretRotated", id)
}

// Secrets returns the secrets that sign at a time, newest first.
func (e *Endpoint) Secrets(now time.Time) []string {
	if e.OldSecret != "" && now.Before(e.OldSecretUntil) {
		return []string{e.Secret, e.OldSecret}
	}
	return []string{e.Secret}
}
