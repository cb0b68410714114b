// Ingest shows how one application pushes data into teamdata and how another reads
// it: it adds audit entries and members through the admin API, while pollers read
// them with an API key and check that each arrives once and in order.
//
// It is only an example of the clients in client/, which send a request again
// while the server can't accept it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin"
)

var (
	socket  = flag.String("socket", "teamdata.db.sock", "the server's admin `socket`")
	server  = flag.String("url", "https://127.0.0.1:8443", "the server's `URL`")
	caFile  = flag.String("ca", "teamdata.db.ca.pem", "the `file` with the server's CA")
	org     = flag.String("org", "", "the `id` of the org; TEAMDATA_KEY holds a key of it with the scope read")
	entries = flag.Int("entries", 5000, "how many audit entries to push, in batches of 1,000")
	members = flag.Int("members", 100, "how many members to push")
	timeout = flag.Duration("timeout", 10*time.Minute, "how long it may take")

	run = "run-" + strconv.FormatInt(time.Now().UnixNano(), 36) // is in everything that this run pushes
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	key := os.Getenv("TEAMDATA_KEY")
	if *org == "" || key == "" {
		log.Fatal("ingest: name the org with --org and put a key of it into TEAMDATA_KEY; see --help")
	}
	trusting, err := teamdata.TrustCA(*caFile)
	if err != nil && strings.HasPrefix(*server, "https:") {
		log.Fatalf("ingest: %v; name the file with the server's CA with --ca", err)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), *timeout, fmt.Errorf("not everything arrived within %s", *timeout))
	defer cancel()
	client := teamdata.New(teamdata.Config{BaseURL: *server, Key: key, HTTP: trusting})
	done := make(chan error)
	go func() { done <- push(ctx, admin.OverSocket(*socket)) }()
	go func() {
		done <- poll(ctx, client.ListAuditLog(), *entries, func(e teamdata.AuditLogEntry) *string { return e.TargetID })
	}()
	go func() {
		done <- poll(ctx, client.ListMembers(), *members, func(m teamdata.Member) *string { return &m.UserID })
	}()
	for range 3 {
		if err := <-done; err != nil {
			log.Fatalf("ingest: %v", cmp.Or(context.Cause(ctx), err))
		}
	}
	fmt.Printf("%d audit entries and %d members were pushed and read, each once and in order\n", *entries, *members)
}

func name(n int) string { return fmt.Sprintf("%s-%07d", run, n) }

// push has Idempotency-Keys of its own: a program that knows what it has pushed by
// their names may begin again after a crash.
func push(ctx context.Context, client *admin.Client) error {
	for from := 0; from < *entries; from += 1000 {
		var batch []admin.NewAuditLogEntry
		for i := from; i < min(from+1000, *entries); i++ {
			batch = append(batch, admin.NewAuditLogEntry{Action: "invoice.paid", TargetID: new(name(i))})
		}
		if _, err := client.AddAuditEntries(ctx, *org, batch, teamdata.IdempotencyKey(name(from)+"-entries")); err != nil {
			return err
		}
	}
	for i := range *members {
		member := admin.NewMember{UserID: name(i), Role: "member"}
		if _, err := client.AddMember(ctx, *org, member, teamdata.IdempotencyKey(name(i)+"-member")); err != nil {
			return err
		}
	}
	return nil
}

// poll reads a list from its start, until n items of this run have arrived and
// nothing follows them.
func poll[T any](ctx context.Context, list teamdata.List[T], n int, nameOf func(T) *string) error {
	for seen := 0; ; {
		for page, err := range list.Pages(ctx) {
			if err != nil {
				return err
			}
			for _, item := range page.Data {
				if got := nameOf(item); got == nil || !strings.HasPrefix(*got, run) {
					continue
				} else if *got != name(seen) {
					return fmt.Errorf("got %s where %s was expected", *got, name(seen))
				}
				seen++
			}
			list = list.After(page.Next)
		}
		if seen == n {
			return nil
		}
		select {
		case <-time.After(time.Second): // a key may make 100 requests a minute
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
