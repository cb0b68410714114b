package storetest

import (
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

// dumpAccounts shows who may sign in, and how.
func dumpAccounts(b *strings.Builder, tx store.Tx, n *names) {
	lines(b, "managed by", n.users, tx.ManagedOrgs)
	lines(b, "account", n.users, tx.Account)
	for _, user := range n.users {
		for _, address := range []string{user + "@example.com", user + "@new.example"} {
			line(b, "account of "+address)(tx.AccountByEmail(address))
		}
	}
	lines(b, "session", n.sessions, tx.Session)
	lines(b, "sign-in link", n.links, tx.SignInLink)
	dumpAfter(b, "sessions", func(s store.Session) string { return s.ID }, tx.Sessions)
	dumpAfter(b, "sign-in links", func(l store.SignInLink) string { return l.ID }, tx.SignInLinks)
	lines(b, "last use of", n.keys, tx.KeyLastUsed)
}

// dumpCounts shows what became of the attempts in an org.
func dumpCounts(b *strings.Builder, tx store.Tx, org string) {
	err := tx.EachDeliveryCounts(org, time.UnixMilli(0), func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
		fmt.Fprintf(b, "counts %s: endpoint %d at %v: %v\n", org, endpoint, hour, c)
	})
	line(b, "counts "+org)("all", err)
}
