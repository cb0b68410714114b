package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// names are the names that something in a store may have, by what has them: a
// word, or the prefix of ids that an engine gives. A dump looks each of them up,
// so that it shows also what is not there.
type names map[string][]string

// given adds the ids that an engine gave, also those of a transaction that
// failed, and those of events' first deliveries.
func (n names) given(ids []string) {
	for _, id := range ids {
		prefix := id[:len(store.PrefixEvent)]
		n[prefix] = append(slices.Clip(n[prefix]), id)
		if prefix == store.PrefixEvent {
			n.given([]string{store.FirstDelivery(id)})
		}
	}
}

// dumpPage is the limit of the pages that a dump reads.
const dumpPage = 5

// dump shows all that can be read in a transaction, a line for each record.
func dump(tx store.Tx, n names) string {
	var b strings.Builder
	for _, org := range n["org"] {
		dumpOrg(&b, tx, n, org)
	}
	line(&b, "any org")(tx.AnyOrg())
	removedOrgs, err := tx.RemovedOrgs(1000)
	line(&b, "removed orgs")(removedOrgs, err)
	for _, k := range kinds {
		k.dump(&b, tx, n)
	}
	for _, user := range n["user"] {
		line(&b, "seen by "+user)(tx.VisibleOrgs(user))
		for _, address := range []string{user + "@example.com", user + "@new.example"} {
			line(&b, "account of "+address)(tx.AccountByEmail(address))
		}
	}
	first, err := tx.RemovedEndpoints(1)
	line(&b, "removed first")(first, err)
	removed, err := tx.RemovedEndpoints(1000)
	line(&b, "removed")(removed, err)
	for _, number := range removed {
		dumpEndpoint(&b, tx, number)
	}
	return b.String()
}

// dumpOrg shows all that can be read of an org.
func dumpOrg(b *strings.Builder, tx store.Tx, n names, org string) {
	line(b, "org "+org)(tx.Org(org))
	line(b, "removed "+org)(tx.OrgRemoved(org))
	line(b, "instructions "+org)(tx.Instructions(org))
	line(b, "owners "+org)(tx.CountOwners(org))
	line(b, "managers "+org)(tx.Managers(org))
	endpoints, err := tx.Endpoints(org)
	line(b, "endpoints "+org)(endpoints, err)
	for _, e := range endpoints {
		dumpEndpoint(b, tx, e.Number)
	}
	err = tx.EachDeliveryCounts(org, time.UnixMilli(0), func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
		fmt.Fprintf(b, "counts %s: endpoint %d at %v: %v\n", org, endpoint, hour, c)
	})
	line(b, "counts "+org)("all", err)
	for _, user := range n["user"] {
		line(b, "member "+org+" "+user)(tx.Member(org, user))
	}
	for _, id := range n["endpoint"] {
		line(b, "endpoint "+org+" "+id)(tx.Endpoint(org, id))
	}
	for _, key := range n["record"] {
		line(b, "record "+org+" "+key)(tx.IdempotencyRecord(org, key))
	}
	dumpList(b, "keys "+org, tx, keysOf(org).read)
	dumpList(b, "replays "+org, tx, replaysOf(org).read)
	dumpList(b, "members "+org, tx, members(org))
	dumpList(b, "audit log "+org, tx, auditLog(org))
	latest, err := tx.AuditPageBefore(org, store.Cursor{}, dumpPage, nil)
	line(b, "latest of the audit log "+org)(fmt.Sprintf("%s %d %+v %v", latest.Items, latest.Count, latest.Last, latest.More), err)
}

// dumpEndpoint shows what there is of an endpoint, of a removed one too: the
// ids in its lists. The deliveries themselves have lines
// of their own.
func dumpEndpoint(b *strings.Builder, tx store.Tx, number uint64) {
	line(b, "last acknowledged")(tx.LastAcknowledged(number))
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
		dumpList(b, fmt.Sprintf("list %d of endpoint %d", list, number), tx, deliveries(number, list))
		dumpList(b, fmt.Sprintf("latest in list %d of endpoint %d", list, number), tx, latestDeliveries([]uint64{number}, list))
	}
}

// line writes a value, or the code of the error in place of it.
func line(b *strings.Builder, what string) func(any, error) {
	return func(v any, err error) {
		text := string(store.CodeOf(err))
		if err == nil {
			text = fmt.Sprintf("%+v", v)
		}
		b.WriteString(what + ": " + text + "\n")
	}
}

// dumpList shows a list, a line for each page.
func dumpList(b *strings.Builder, what string, tx store.Tx, read readPage) {
	for page := (store.Page{More: true}); page.More; {
		next, err := read(tx, page.Last, dumpPage, nil)
		if err != nil || next.More && next.Last == page.Last {
			fmt.Fprintf(b, "%s: does not go on: %v\n", what, err)
			return
		}
		page = next
		fmt.Fprintf(b, "%s: %s\n", what, page.Items)
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
