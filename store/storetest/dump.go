package storetest

import (
	"fmt"
	"strings"

	"teamdata/store"
)

// names are the names that something in a store may have. A dump looks each of
// them up, so that it shows also what is not there.
type names struct {
	orgs, users, plans, keys, endpoints, records, certificates []string
	types, tokens                                              []string
	events, deliveries, mails, sessions, links                 []string
}

// given adds the ids that an engine gave, also those of a transaction that
// failed.
func (n *names) given(ids []string) {
	for _, id := range ids {
		switch {
		case strings.HasPrefix(id, store.PrefixEvent):
			n.events = append(n.events, id)
		case strings.HasPrefix(id, store.PrefixDelivery):
			n.deliveries = append(n.deliveries, id)
		case strings.HasPrefix(id, store.PrefixMail):
			n.mails = append(n.mails, id)
		case strings.HasPrefix(id, store.PrefixSession):
			n.sessions = append(n.sessions, id)
		case strings.HasPrefix(id, store.PrefixSignInLink):
			n.links = append(n.links, id)
		}
	}
}

// dumpPage is the limit of the pages that a dump reads.
const dumpPage = 5

// dump shows all that can be read in a transaction, a line for each record.
func dump(tx store.Tx, n *names) string {
	var b strings.Builder
	for _, org := range n.orgs {
		dumpOrg(&b, tx, n, org)
	}
	line(&b, "any org")(tx.AnyOrg())
	dumpAfter(&b, "orgs", func(o store.Org) string { return o.ID }, tx.Orgs)
	line(&b, "plans")(tx.Plans())
	line(&b, "event types")(tx.EventTypes())
	line(&b, "operator tokens")(tx.OperatorTokens())
	lines(&b, "plan", n.plans, tx.Plan)
	lines(&b, "event type", n.types, tx.EventType)
	lines(&b, "operator token", n.tokens, tx.OperatorToken)
	lines(&b, "key", n.keys, tx.APIKey)
	lines(&b, "event", n.events, tx.Event)
	lines(&b, "delivery", n.deliveries, tx.Delivery)
	lines(&b, "certificate", n.certificates, tx.Certificate)
	dumpRemoved(&b, tx)
	dumpAccounts(&b, tx, n)
	dumpAfter(&b, "mails", func(m store.Mail) string { return m.ID }, tx.Mails)
	return b.String()
}

// dumpOrg shows all that can be read of an org.
func dumpOrg(b *strings.Builder, tx store.Tx, n *names, org string) {
	line(b, "org "+org)(tx.Org(org))
	line(b, "instructions "+org)(tx.Instructions(org))
	line(b, "owners "+org)(tx.CountOwners(org))
	line(b, "managers "+org)(tx.Managers(org))
	dumpEndpoints(b, tx, org)
	dumpCounts(b, tx, org)
	for _, user := range n.users {
		line(b, "member "+org+" "+user)(tx.Member(org, user))
	}
	for _, id := range n.endpoints {
		line(b, "endpoint "+org+" "+id)(tx.Endpoint(org, id))
	}
	for _, key := range n.records {
		line(b, "record "+org+" "+key)(tx.IdempotencyRecord(org, key))
	}
	dumpAfter(b, "keys "+org, func(k store.APIKey) string { return k.ID }, func(after string, limit int) ([]store.APIKey, error) {
		return tx.APIKeys(org, after, limit)
	})
	dumpList(b, "members "+org, func(after store.Cursor) (store.Page, error) {
		return tx.MemberPage(org, after, dumpPage, nil)
	})
	dumpList(b, "audit log "+org, func(after store.Cursor) (store.Page, error) {
		return tx.AuditPage(org, after, dumpPage, nil)
	})
	line(b, "latest of the audit log "+org)(tx.AuditPageBefore(org, store.Cursor{}, dumpPage, nil))
}

// line writes a value, or the code of the error in place of it.
func line(b *strings.Builder, what string) func(any, error) {
	return func(v any, err error) {
		if err != nil {
			v = store.CodeOf(err)
		}
		fmt.Fprintf(b, "%s: %+v\n", what, v)
	}
}

func lines[T any](b *strings.Builder, what string, ids []string, get func(string) (T, error)) {
	for _, id := range ids {
		v, err := get(id)
		line(b, what+" "+id)(v, err)
	}
}

func dumpList(b *strings.Builder, what string, read func(store.Cursor) (store.Page, error)) {
	for page := (store.Page{More: true}); page.More; {
		next, err := read(page.Last)
		if err != nil || next.More && next.Last.Compare(page.Last) <= 0 {
			fmt.Fprintf(b, "%s: does not go on: %v\n", what, err)
			return
		}
		page = next
		fmt.Fprintf(b, "%s: %s\n", what, page.Items)
	}
}

// dumpAfter shows a list that is read from id to id, a line for each page.
func dumpAfter[T any](b *strings.Builder, what string, id func(T) string, read func(after string, limit int) ([]T, error)) {
	const limit = 2
	for after, more := "", true; more; {
		page, err := read(after, limit)
		line(b, what)(page, err)
		if more = len(page) == limit && id(page[1]) > after; more {
			after = id(page[1])
		}
	}
}

// difference is the first line in which two dumps differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf(" got %s\nwant %s", brief(g[i]), brief(w[i]))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
