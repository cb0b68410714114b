package store

import (
	"context"
	"time"
)

// Store is a storage engine. Its methods are safe for concurrent use.
//
// A fault of the storage itself is an [Error] with CodeUnavailable: nothing was
// written, and readers go on.
type Store interface {
	// View runs fn on one moment of the data. fn must not keep what it was
	// given, and must be short: it builds an answer, it does not send it.
	View(ctx context.Context, fn func(Tx) error) error

	// Update runs fn and commits what it wrote. It returns after the commit is
	// on the disk, or with fn's error after all of fn's writes were undone. A
	// panic in fn is an error.
	Update(ctx context.Context, fn func(Tx) error) error

	// AccessGeneration changes when the commit of anything that an Access
	// depends on is done: before the Update that did it returns. An engine
	// that can't tell returns a new number each time.
	AccessGeneration() uint64

	Queue

	// Close waits for what runs and closes the store.
	Close() error
}

// Queue is the part of a Store that the dispatcher works from. What is due is
// what the transactions wrote; the queue finds it and keeps two dispatchers
// from sending the same delivery at the same time.
type Queue interface {
	// OnDue sets who is told, in commit order and before the committing
	// callers go on, that deliveries of an endpoint became due. The time is
	// that of the earliest, or before it: Claim knows the truth. fn must not
	// block. It is set once, before the first Update that matters to it.
	OnDue(fn func(endpoint uint64, due time.Time))

	// EachDue calls fn with the earliest due time of each endpoint that has
	// deliveries waiting and is not disabled. It costs one seek an endpoint.
	EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error

	// Claim takes up to limit deliveries of the endpoint that are due at now,
	// earliest first. A claimed delivery is not claimed again before Release.
	// A disabled or removed endpoint has nothing due.
	Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (Claims, error)

	// Release gives a delivery back, after its outcome has committed or
	// without one.
	Release(deliveryID string)
}

// Claims is what a dispatcher needs to send some deliveries to one endpoint.
type Claims struct {
	Endpoint Endpoint
	Claims   []Claim
	Next     time.Time // due time of the earliest delivery left unclaimed; zero when there is none
}

// Claim is one delivery to attempt now.
type Claim struct {
	Delivery Delivery
	Body     []byte
}

// Tx is one transaction. Its methods return an [Error]; a missing record is
// notFound. Times have a resolution of a millisecond.
type Tx interface {
	Clock
	Orgs
	Plans
	Members
	AuditLog
	InstructionsTx
	APIKeys
	Endpoints
	Deliveries
	Mails
	IdempotencyRecords
	Certificates
	EventTypes
	OperatorTokens
	Accounts
	SignIns
	DeliveryCountsTx
}

// Clock gives times and ids in commit order.
type Clock interface {
	// Now is the transaction's time, by the engine's clock.
	Now() time.Time
	// NewID gives an id that is greater than all before it with the prefix.
	NewID(prefix string) string
}

// Orgs keep the orgs.
type Orgs interface {
	Org(id string) (Org, error)
	PutOrg(Org) error
	// Orgs lists up to limit orgs after an id, in the order of their ids; from the
	// first when that is empty.
	Orgs(after string, limit int) ([]Org, error)
	// AnyOrg tells whether the store holds an org.
	AnyOrg() (bool, error)
}

// Plans keep the plans that the operator added.
type Plans interface {
	Plan(name string) (Plan, error)
	// Plans lists the plans in the order of their names.
	Plans() ([]Plan, error)
	PutPlan(Plan) error
	DeletePlan(name string) error
}

// Page is one page of a list, ready to be sent.
type Page struct {
	Items []byte // the items' JSON, with commas between them
	Count int
	Last  Cursor // position of the last item; zero on an empty page
	More  bool   // whether more items follow
}

// Members keep each org's members in the order of their positions.
type Members interface {
	Member(orgID, userID string) (Member, error)
	// AppendMember adds a member whose user has no membership in the org yet.
	// What is missing of id and creation time is given, after all positions
	// that the list ever had. A time and id that another item has: conflict.
	AppendMember(Member) (Member, error)
	// PutMember changes a member, whose id and creation time stay.
	PutMember(Member) error
	DeleteMember(orgID, userID string) error
	CountOwners(orgID string) (int, error)
	// Managers are the owners and admins, in the order of their user ids.
	Managers(orgID string) ([]Member, error)
	// ManagedOrgs are the ids of the orgs in which a user is owner or admin, in
	// their order.
	ManagedOrgs(userID string) ([]string, error)
	// MemberPage reads up to limit members after a cursor. The items are
	// appended to dst.
	MemberPage(orgID string, after Cursor, limit int, dst []byte) (Page, error)
}

// AuditLog keeps each org's audit log in the order of its positions.
type AuditLog interface {
	// AppendAudit adds an entry, with a position as AppendMember has it.
	AppendAudit(AuditEntry) (AuditEntry, error)
	// AuditPage reads up to limit entries after a cursor. The items are
	// appended to dst.
	AuditPage(orgID string, after Cursor, limit int, dst []byte) (Page, error)
	// AuditPageBefore reads up to limit entries before a cursor, latest first; from
	// the latest when that is zero. The items are appended to dst.
	AuditPageBefore(orgID string, before Cursor, limit int, dst []byte) (Page, error)
}

// InstructionsTx keeps each org's instructions.
type InstructionsTx interface {
	// Instructions returns the zero value when the org has set none.
	Instructions(orgID string) (Instructions, error)
	PutInstructions(orgID string, i Instructions) error
}

// APIKeys keep the API keys of all orgs.
type APIKeys interface {
	APIKey(id string) (APIKey, error)
	// APIKeys lists up to limit keys of an org after an id, in the order of their
	// ids; from the first when that is empty.
	APIKeys(orgID, after string, limit int) ([]APIKey, error)
	// PutAPIKey adds a key or changes it. Its org stays.
	PutAPIKey(APIKey) error
	// KeyLastUsed is when a key was used last, to the minute or so; zero for never.
	// No Access depends on it.
	KeyLastUsed(id string) (time.Time, error)
	PutKeyLastUsed(id string, at time.Time) error
}

// Endpoints keep each org's webhook endpoints.
type Endpoints interface {
	Endpoint(orgID, id string) (Endpoint, error)
	// Endpoints lists the org's endpoints in the order of their ids.
	Endpoints(orgID string) ([]Endpoint, error)
	// AddEndpoint adds an endpoint and gives it its number.
	AddEndpoint(Endpoint) (Endpoint, error)
	PutEndpoint(Endpoint) error
	// DeleteEndpoint removes an endpoint. Its number goes to the removed ones,
	// whose deliveries are still there and are never due.
	DeleteEndpoint(Endpoint) error
	// RemovedEndpoints lists up to limit numbers of endpoints that were removed
	// and are not forgotten, in their order.
	RemovedEndpoints(limit int) ([]uint64, error)
	// ForgetEndpoint drops all that is left of a removed endpoint that has no
	// delivery any more.
	ForgetEndpoint(number uint64) error
}

// Deliveries keep events and their deliveries. Each delivery is in one of its
// endpoint's lists, at its [Delivery.Position]; the waiting ones are what is
// due.
type Deliveries interface {
	AddEvent(Event) error
	Event(id string) (Event, error)
	DeleteEvent(id string) error
	AddDelivery(Delivery) error
	Delivery(id string) (Delivery, error)
	PutDelivery(Delivery) error
	DeleteDelivery(id string) error
	// DeliveryPage reads up to limit deliveries of an endpoint's list after a
	// position, in the list's order, and tells whether more follow. The zero
	// Cursor is for the first page.
	DeliveryPage(endpoint uint64, list DeliveryList, after Cursor, limit int) (page []Delivery, more bool, err error)
	// CountDeliveries counts an endpoint's list, and stops at most.
	CountDeliveries(endpoint uint64, list DeliveryList, most int) (int, error)
	// FinishedBefore returns the ids of up to limit deliveries, of any
	// endpoint, that were acknowledged or failed before a time.
	FinishedBefore(t time.Time, limit int) ([]string, error)
	// LastAcknowledged is when the endpoint acknowledged last; zero for never.
	LastAcknowledged(endpoint uint64) (time.Time, error)
	PutLastAcknowledged(endpoint uint64, at time.Time) error
}

// Mails keep the mail that waits to be sent.
type Mails interface {
	// PutMail adds a mail or changes it.
	PutMail(Mail) error
	DeleteMail(id string) error
	// Mails lists up to limit mails after an id, oldest first; from the first
	// when that is empty.
	Mails(after string, limit int) ([]Mail, error)
}

// IdempotencyRecords keep first answers for IdempotencyTTL.
type IdempotencyRecords interface {
	// IdempotencyRecord is notFound once the record is as old as IdempotencyTTL.
	IdempotencyRecord(orgID, key string) (IdempotencyRecord, error)
	AddIdempotencyRecord(IdempotencyRecord) error
	// ExpireIdempotencyRecords drops up to limit records that are no longer
	// found, oldest first, and returns how many it dropped. At 0 there is
	// nothing left to drop for now.
	ExpireIdempotencyRecords(limit int) (int, error)
}

// EventTypes keep the event types that the operator registered.
type EventTypes interface {
	EventType(name string) (EventType, error)
	// EventTypes lists the types in the order of their names.
	EventTypes() ([]EventType, error)
	PutEventType(EventType) error
	DeleteEventType(name string) error
}

// OperatorTokens keep the tokens of the admin API.
type OperatorTokens interface {
	OperatorToken(id string) (OperatorToken, error)
	// OperatorTokens lists the tokens in the order of their ids.
	OperatorTokens() ([]OperatorToken, error)
	PutOperatorToken(OperatorToken) error
	DeleteOperatorToken(id string) error
}

// Accounts keep how people sign in to the settings page.
type Accounts interface {
	Account(userID string) (Account, error)
	// AccountByEmail finds an account by its address, in lower case.
	AccountByEmail(email string) (Account, error)
	// PutAccount adds an account or changes it. An address that another account
	// has in upper or lower case: conflict.
	PutAccount(Account) error
	DeleteAccount(userID string) error
}

// SignIns keep sessions and sign-in links.
type SignIns interface {
	Session(id string) (Session, error)
	// Sessions lists up to limit sessions after an id, oldest first; from the first
	// when that is empty.
	Sessions(after string, limit int) ([]Session, error)
	PutSession(Session) error
	DeleteSession(id string) error
	SignInLink(id string) (SignInLink, error)
	// SignInLinks lists up to limit links after an id, as Sessions does.
	SignInLinks(after string, limit int) ([]SignInLink, error)
	PutSignInLink(SignInLink) error
	DeleteSignInLink(id string) error
}

// DeliveryCountsTx keep what became of attempts, by the hour.
type DeliveryCountsTx interface {
	// AddDeliveryCounts adds to what an endpoint has in the hour of a time.
	AddDeliveryCounts(orgID string, endpoint uint64, at time.Time, c DeliveryCounts) error
	// EachDeliveryCounts calls fn for each endpoint of the org, also one that was
	// removed, and each hour from that of a time on that has counts, in the order of
	// the hours.
	EachDeliveryCounts(orgID string, from time.Time, fn func(endpoint uint64, hour time.Time, c DeliveryCounts)) error
	// DropDeliveryCounts drops up to limit counts of hours that ended before a time,
	// and returns how many it dropped.
	DropDeliveryCounts(before time.Time, limit int) (int, error)
}
