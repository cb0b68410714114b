package settings

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"teamdata/store"
)

// sentence is an action in words: the text before and after its target.
type sentence struct {
	before string
	target targetKind
	after  string
}

// targetKind is what an entry's target id belongs to.
type targetKind int

const (
	noTarget targetKind = iota // or one that says nothing: the org itself
	anyTarget
	memberTarget // a membership
	userTarget   // left out where the actor is that user
	keyTarget
	endpointTarget
	deliveryTarget
	fileTarget
)

// unnamed are the kinds of things whose names may not be known, each with how a sentence
// leads to a name and what it says instead: whoever removed a member removed "a member".
var unnamed = map[targetKind][2]string{
	memberTarget: {"the member ", "a member"}, fileTarget: {"the file ", "a file"}, deliveryTarget: {"the delivery of ", "a delivery"},
}

// sentences are the sentences of the program's own actions. An entry that an application
// appends is shown as its action and its target.
var sentences = map[string]sentence{
	"account.signInRefused":         {"refused to sign in ", userTarget, ""},
	"account.signedIn":              {"signed in", noTarget, ""},
	"apiKey.created":                {"created the API key ", keyTarget, ""},
	"apiKey.revoked":                {"revoked the API key ", keyTarget, ""},
	"assistant.instructionsChanged": {"changed the assistant’s instructions", noTarget, ""},
	"auditLog.exported":             {"exported the audit log", noTarget, ""},
	"deliveries.replayCancelled":    {"cancelled a replay of many deliveries", noTarget, ""},
	"deliveries.replayed":           {"replayed many deliveries", noTarget, ""},
	"delivery.replayed":             {"replayed the delivery of ", deliveryTarget, ""},
	"endpoint.changed":              {"updated the endpoint ", endpointTarget, ""},
	"endpoint.created":              {"added the endpoint ", endpointTarget, ""},
	"endpoint.disabled":             {"disabled the endpoint ", endpointTarget, ""},
	"endpoint.enabled":              {"enabled the endpoint ", endpointTarget, ""},
	"endpoint.recovered":            {"replayed the unsuccessful deliveries of ", endpointTarget, ""}, // in data of 1.0.0
	"endpoint.headersShown":         {"viewed the headers of ", endpointTarget, ""},
	"endpoint.removed":              {"deleted the endpoint ", endpointTarget, ""},
	"endpoint.secretRotated":        {"rotated the secret of ", endpointTarget, ""},
	"endpoint.secretShown":          {"viewed the secret of ", endpointTarget, ""},
	"file.uploaded":                 {"uploaded the file ", fileTarget, ""},
	"member.added":                  {"added the member ", memberTarget, ""},
	"member.changed":                {"updated the member ", memberTarget, ""},
	"member.removed":                {"removed the member ", memberTarget, ""},
	"member.roleChanged":            {"changed the role of ", memberTarget, ""},
	"org.created":                   {"created the org", noTarget, ""},
	"org.renamed":                   {"renamed the org", noTarget, ""},
	"passkey.added":                 {"added a passkey", userTarget, ""},
	"passkey.removed":               {"removed a passkey", userTarget, ""},
	"portalLink.created":            {"created a portal link for ", userTarget, ""},
	"portalLink.used":               {"signed in through a portal link", noTarget, ""},
	"portalSession.ended":           {"ended the portal session of ", userTarget, ""},
	"signInLink.created":            {"sent a sign-in link to ", userTarget, ""},
	"subscription.changed":          {"changed the subscription", noTarget, ""},
}

// sentenceOf is what an entry says was done.
func sentenceOf(e store.AuditEntry) sentence {
	s, known := sentences[e.Action]
	switch {
	case !known:
		return sentence{e.Action + " ", anyTarget, ""}
	case s.target == userTarget && strings.HasPrefix(e.Action, "passkey.") && e.TargetID == e.ActorID:
		return sentence{s.before, noTarget, ""}
	case strings.HasPrefix(e.Action, "passkey."):
		return sentence{s.before + " of ", userTarget, ""}
	}
	return s
}

// auditRow is an entry as shown to people.
type auditRow struct {
	store.AuditEntry
	Who           person
	Before, After string // of the sentence
	Target        auditTarget
}

// auditTarget is the entry's object.
type auditTarget struct {
	ID   string
	Name string // what is known best: name, URL, or id; empty: the sentence names none
	Path string // of its page; empty: it is gone, or has none
}

func (r *request) auditRow(tx store.Tx, e store.AuditEntry) (row auditRow, err error) {
	s := sentenceOf(e)
	row = auditRow{AuditEntry: e, Before: s.before, After: s.after}
	if row.Who, err = r.person(tx, e.ActorID); err != nil || e.TargetID == "" || s.target == noTarget {
		return row, err
	}
	row.Target, err = r.auditTarget(tx, s.target, e)
	if store.IsNotFound(err) {
		row.Target, err = auditTarget{}, nil
	}
	if e.Action == "endpoint.disabled" && e.ActorID == "" && err == nil {
		row.After, err = r.whyDisabled(tx, e)
	}
	if words, ok := unnamed[s.target]; ok && row.Target.Name == "" {
		row.Before, row.Target.Name = strings.TrimSuffix(s.before, words[0]), words[1]
	}
	row.Target.ID, row.Target.Name = e.TargetID, cmp.Or(row.Target.Name, e.TargetID)
	return row, err
}

// auditTarget finds the name and the page of an entry's target. notFound: it is gone.
func (r *request) auditTarget(tx store.Tx, kind targetKind, e store.AuditEntry) (auditTarget, error) {
	switch id := e.TargetID; kind {
	case memberTarget:
		m, err := r.memberBy(tx, id)
		p := r.memberAsPerson(m)
		return auditTarget{Name: p.Name, Path: p.Path}, err
	case userTarget:
		p, err := r.person(tx, id)
		return auditTarget{Name: p.Name, Path: p.Path}, err
	case keyTarget:
		k, err := store.FindKey(tx, r.Org.ID, id)
		return auditTarget{Name: k.Name, Path: r.path("keys", id)}, err
	case endpointTarget:
		e, err := store.FindEndpoint(tx, r.Org.ID, id)
		return auditTarget{Name: endpointName(e), Path: r.path("endpoints", id)}, err
	case deliveryTarget:
		d, _, err := store.FindDelivery(tx, r.Org.ID, id)
		return auditTarget{Name: d.EventType, Path: r.path("deliveries", id)}, err
	case fileTarget:
		return r.fileTarget(tx, e)
	case anyTarget:
		if strings.HasPrefix(id, store.PrefixEvent) {
			e, err := r.event(tx, id)
			return auditTarget{Path: r.path("events", e.ID)}, err
		}
	}
	return auditTarget{}, nil
}

// whyDisabled says why an endpoint is disabled by the system: an operator who gives no
// actor may have done so too. It is empty once the endpoint is enabled again or gone.
func (r *request) whyDisabled(tx store.Tx, entry store.AuditEntry) (string, error) {
	e, err := store.FindEndpoint(tx, r.Org.ID, entry.TargetID)
	if store.IsNotFound(err) {
		return "", nil
	}
	if err != nil || e.DisabledReason == "" || entry.CreatedAt.Sub(e.DisabledAt).Abs() >= time.Second {
		return "", err
	}
	return ", which acknowledged nothing", nil
}

// fileTarget finds the name of an uploaded file in its event, the only place that has it.
func (r *request) fileTarget(tx store.Tx, e store.AuditEntry) (auditTarget, error) {
	e.OrgID = r.Org.ID
	event, err := store.EventOf(tx, e)
	if err != nil {
		return auditTarget{}, err
	}
	var body struct{ Data struct{ FileID, Name string } }
	if json.Unmarshal(event.Body, &body) != nil || body.Data.FileID != e.TargetID {
		return auditTarget{}, nil
	}
	return auditTarget{Name: body.Data.Name, Path: r.path("events", event.ID)}, nil
}
