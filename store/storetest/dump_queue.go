package storetest

import (
	"fmt"
	"strings"

	"teamdata/store"
)

// dumpEndpoints shows an org's endpoints, and what there is of each.
func dumpEndpoints(b *strings.Builder, tx store.Tx, org string) {
	endpoints, err := tx.Endpoints(org)
	line(b, "endpoints "+org)(endpoints, err)
	for _, e := range endpoints {
		dumpEndpoint(b, tx, e.Number)
	}
}

// dumpRemoved shows what is left of removed endpoints.
func dumpRemoved(b *strings.Builder, tx store.Tx) {
	first, err := tx.RemovedEndpoints(1)
	line(b, "removed first")(first, err)
	removed, err := tx.RemovedEndpoints(1000)
	line(b, "removed")(removed, err)
	for _, number := range removed {
		dumpEndpoint(b, tx, number)
	}
}

func dumpEndpoint(b *strings.Builder, tx store.Tx, number uint64) {
	line(b, "last acknowledged")(tx.LastAcknowledged(number))
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListFailed} {
		dumpDeliveries(b, tx, number, list)
	}
}

// dumpDeliveries shows the ids in a list, a line for each page. The deliveries
// themselves have lines of their own.
func dumpDeliveries(b *strings.Builder, tx store.Tx, endpoint uint64, list store.DeliveryList) {
	for after, more := (store.Cursor{}), true; more; {
		page, next, err := tx.DeliveryPage(endpoint, list, after, dumpPage)
		fmt.Fprintf(b, "list %d of endpoint %d:", list, endpoint)
		for _, d := range page {
			b.WriteString(" " + d.ID)
			_, after = d.Position()
		}
		if more = next && len(page) > 0; next != more || err != nil {
			fmt.Fprintf(b, " does not go on: %v", err)
		}
		b.WriteByte('\n')
	}
}
