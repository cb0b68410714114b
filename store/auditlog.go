package store

import (
	"bytes"
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"teamdata/store/rows"
)

// AuditEntry is one line of an org's audit log.
type AuditEntry struct {
	OrgID     string
	ID        string
	ActorID   string // who did it; empty when there is no actor
	Action    string // 1 to 200 characters
	TargetID  string // what it was done to; empty when there is no target
	CreatedAt time.Time
}

// auditItem is an entry of an audit log as it is kept: at its position, as a page sends it.
type auditItem struct {
	orgID string
	at    Cursor
	item  []byte
}

var auditItems = rows.Define(&rows.Table[auditItem]{
	Kind:     rows.Kind{Name: "auditLog", Noun: "audit entry", Owner: rows.OrgInKey, Owners: rows.OfOrg},
	Key:      func(dst []byte, a *auditItem) []byte { return position(dst, a.orgID, a.at) },
	Fields:   func(c *rows.Codec, a *auditItem) { c.Rest(&a.item) },
	Complete: completeAuditItem,
	Checks: func(c *rows.Checker, key []byte, a *auditItem) {
		if !jsontext.Value(a.item).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			c.Fault("auditLog %q: the item is not JSON", key)
		}
	},
})

func completeAuditItem(key []byte, a *auditItem) {
	if org, rest, ok := bytes.Cut(key, []byte{0}); ok && len(rest) >= 8 {
		a.orgID, a.at = string(org), positionOf(string(org), key)
	}
}

var auditLog = orgList{&auditItems.Kind, rows.ByKey}

// AppendAudit adds an entry, positioned as by AppendMember.
func (t Tx) AppendAudit(e AuditEntry) (AuditEntry, error) {
	if err := t.place(auditLog, e.OrgID, PrefixAudit, Cursor{}, &e.ID, &e.CreatedAt); err != nil {
		return AuditEntry{}, err
	}
	item := e.AppendJSON(make([]byte, 0, 192))
	return e, auditItems.Insert(t.Tx, &auditItem{e.OrgID, CursorOf(e.CreatedAt, e.ID), item})
}

// AuditPage reads up to limit entries after a cursor and appends the items to
// dst.
func (t Tx) AuditPage(orgID string, at Cursor, limit int, dst []byte) (Page, error) {
	return t.page(auditLog, orgID, rows.Range{Bounds: after(orgID, at), Limit: limit}, dst)
}

// AuditPageBefore reads up to limit entries before a cursor, latest first,
// and appends the items to dst. The zero Cursor starts at the latest.
func (t Tx) AuditPageBefore(orgID string, at Cursor, limit int, dst []byte) (Page, error) {
	return t.page(auditLog, orgID, rows.Range{Bounds: before(orgID, at), Back: true, Limit: limit}, dst)
}

// DropAuditLog drops up to limit entries of a removed org, oldest first, and
// returns how many it dropped.
func (t Tx) DropAuditLog(orgID string, limit int) (int, error) {
	n, err := auditItems.DropFirst(t.Tx, rows.Below(orgID, ""), limit)
	return n, stored(err)
}

// AppendJSON appends the entry as the API shows it.
func (e AuditEntry) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendString(dst, "id", e.ID)
	dst = appendNullable(dst, "actorId", e.ActorID)
	dst = appendString(dst, "action", e.Action)
	dst = appendNullable(dst, "targetId", e.TargetID)
	dst = appendTime(dst, "createdAt", e.CreatedAt)
	return append(dst, '}')
}

func (e AuditEntry) check() error {
	if e.ID != "" && !ValidID(e.ID) {
		return Invalid("id", "%s", idRule)
	}
	return cmp.Or(
		checkLength("actorId", e.ActorID, maxNameLength),
		checkPresent("action", e.Action),
		checkLength("action", e.Action, maxNameLength),
		checkLength("targetId", e.TargetID, maxNameLength),
	)
}

// AppendAudit appends an entry to its org's audit log. The engine fills in a
// missing id or creation time.
func AppendAudit(tx Tx, e AuditEntry) (AuditEntry, error) {
	if err := cmp.Or(e.check(), checkHappened(tx, "createdAt", e.CreatedAt), checkOrg(tx, e.OrgID)); err != nil {
		return AuditEntry{}, err
	}
	return tx.AppendAudit(e)
}

// auditBy appends what an actor did to a target; actorID may be empty. If failed
// is not nil, nothing is appended and it is returned.
func auditBy(failed error, tx Tx, actorID, orgID, action, targetID string) error {
	if failed != nil {
		return failed
	}
	_, err := AppendAudit(tx, AuditEntry{OrgID: orgID, ActorID: actorID, Action: action, TargetID: targetID})
	return err
}

// AuditAccount appends what an actor did to a user's account to the audit log of
// each org that the user may see, since the account gives access to them. If
// failed is not nil, nothing is appended and it is returned.
func AuditAccount(failed error, tx Tx, actorID, userID, action string) error {
	if failed != nil {
		return failed
	}
	orgs, err := tx.VisibleOrgs(userID)
	for _, id := range orgs {
		err = auditBy(err, tx, actorID, id, action, userID)
	}
	return err
}

// OperatorLog replaces the org id for the operator's actions on the server. No
// org has this id.
const OperatorLog = ""

// AuditOperator appends what the operator did to the operator's log, as auditBy does.
func AuditOperator(failed error, tx Tx, actorID, action, target string) error {
	e := AuditEntry{OrgID: OperatorLog, ActorID: actorID, Action: action, TargetID: target}
	if failed == nil {
		failed = e.check()
	}
	if failed == nil {
		_, failed = tx.AppendAudit(e)
	}
	return failed
}

// Audit actions of exports and of signing in.
const (
	AuditExported      = "auditLog.exported"
	AuditLinkCreated   = "signInLink.created"
	AuditSignedIn      = "account.signedIn"
	AuditSignInRefused = "account.signInRefused"
	auditPasskeyAdded  = "passkey.added"
	auditPasskeyEnded  = "passkey.removed"
	auditPortalMade    = "portalLink.created"
	auditPortalUsed    = "portalLink.used"
	auditPortalEnded   = "portalSession.ended"
)

// AuditExport records that an org's audit log was exported.
func AuditExport(tx Tx, actorID, orgID string) error {
	return auditBy(nil, tx, actorID, orgID, AuditExported, orgID)
}
