package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// Names are the names that something in a store may have, by what has them: a
// word, or the prefix of ids that an engine gives. A dump looks up those of what isn't
// rows, so that it shows also what is not there.
type Names map[string][]string

// given adds the ids that an engine gave, also those of a transaction that
// failed, and those of events' first deliveries.
func (n Names) given(ids []string) {
	for _, id := range ids {
		prefix := id[:len(store.PrefixEvent)]
		n[prefix] = append(slices.Clip(n[prefix]), id)
		if prefix == store.PrefixEvent {
			n.given([]string{store.FirstDelivery(id)})
		}
	}
}

// dump shows all rows, and all else that can be read in a transaction, a line for each.
func dump(tx store.Tx, n Names) string {
	var b strings.Builder
	dumpRows(&b, tx.Tx)
	for _, org := range n["org"] {
		dumpOrg(&b, tx, n, org)
	}
	for _, id := range n[store.PrefixEvent] {
		line(&b, "event "+id)(tx.Event(id))
	}
	for _, id := range n[store.PrefixDelivery] {
		line(&b, "delivery "+id)(tx.Delivery(id))
	}
	removed, err := tx.RemovedEndpoints(unlimited)
	line(&b, "removed")(removed, err)
	for _, number := range removed {
		dumpEndpoint(&b, tx, "removed", number)
	}
	return b.String()
}

// dumpRows shows each row of each kind, and each entry in its indexes, but for what engines
// may keep in other ways, which has lines of its own. Rows that expire may be kept for
// longer than they can be read, and are left out.
func dumpRows(b *strings.Builder, tx *rows.Tx) {
	for _, k := range rows.Kinds() {
		for _, index := range shown(k) {
			err := tx.Scan(k, rows.Range{Index: index}, func(item rows.Item) bool {
				switch {
				case index != rows.ByKey:
					fmt.Fprintf(b, "%s: %q %q\n", k.Indexes[index].Own(), item.Key, item.Value)
				case k == deliveryKind:
					d, _, err := store.ReadDelivery(item.Key, item.Value)
					line(b, fmt.Sprintf("%s: %q", k.Name, item.Key))(d, err)
				case k.Seal == nil && json.Valid(item.Value):
					fmt.Fprintf(b, "%s: %q %s\n", k.Name, item.Key, item.Value)
				default:
					line(b, fmt.Sprintf("%s: %q", k.Name, item.Key))(k.Records.Open(tx, item.Key, item.Value))
				}
				return true
			})
			if err != nil {
				line(b, k.Name)(nil, err)
			}
		}
	}
}

// shown are the indexes of a kind that dumps show, and ByKey. Events may share the rows of
// their deliveries. Indexes of one name may stand together.
func shown(k *rows.Kind) (indexes []int) {
	if k.Span > 0 || k.Name == "events" {
		return nil
	}
	indexes = []int{rows.ByKey}
	for i, x := range k.Indexes {
		if x.As == "" {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// dumpOrg shows what is kept by the names of an org, and of its endpoints.
func dumpOrg(b *strings.Builder, tx store.Tx, n Names, org string) {
	endpoints, err := tx.Endpoints(org)
	line(b, "endpoints of "+org)(len(endpoints), err)
	for _, e := range endpoints {
		dumpEndpoint(b, tx, org, e.Number)
	}
	err = tx.EachDeliveryCounts(org, time.UnixMilli(0), func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
		fmt.Fprintf(b, "counts of %s: endpoint %d at %v: %v\n", org, endpoint, hour, c)
	})
	line(b, "counts of "+org)("all", err)
	for _, key := range n["record"] {
		line(b, "record of "+org+" "+key)(tx.IdempotencyRecord(org, key))
	}
}

// dumpEndpoint shows what there is of an endpoint, of a removed one too: the
// ids in its lists. The deliveries themselves have lines
// of their own.
func dumpEndpoint(b *strings.Builder, tx store.Tx, org string, number uint64) {
	of := fmt.Sprintf("endpoint %d of %s", number, org)
	line(b, "last acknowledged by "+of)(tx.LastAcknowledged(number))
	if store.IsPull(number) {
		line(b, "last pulled at "+of)(tx.LastPulled(number))
		line(b, "due to be pulled at "+of)(tx.PullDue(number))
	}
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListLeased, store.ListFailed} {
		all, _, err := tx.DeliveryPage(number, list, store.Cursor{}, unlimited)
		line(b, fmt.Sprintf("list %d of %s", list, of))(idsOf(all), err)
		all, err = tx.LatestDeliveries([]uint64{number}, []store.DeliveryList{list}, store.Cursor{}, unlimited)
		line(b, fmt.Sprintf("latest in list %d of %s", list, of))(idsOf(all), err)
	}
}

func idsOf(deliveries []store.Delivery) (ids []string) {
	for _, d := range deliveries {
		ids = append(ids, d.ID)
	}
	return ids
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
