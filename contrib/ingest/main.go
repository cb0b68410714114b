// Ingest shows how one application pushes data into teamdata and how another reads
// it: it adds audit entries and members through the admin API, while pollers read
// them with an API key and check that each arrives once and in order.
//
// It is an example, so it imports the standard library alone.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	socket  = flag.String("socket", "teamdata.db.sock", "the server's admin `socket`")
	server  = flag.String("url", "https://127.0.0.1:8443", "the server's `URL`")
	caFile  = flag.String("ca", "teamdata.db.ca.pem", "the `file` with the server's CA")
	org     = flag.String("org", "", "the `id` of the org; TEAMDATA_KEY holds a key of it with the scope read")
	entries = flag.Int("entries", 5000, "how many audit entries to push, in batches of 1,000")
	members = flag.Int("members", 100, "how many members to push")
	timeout = flag.Duration("timeout", 10*time.Minute, "how long it may take")

	run = "run-" + strconv.FormatInt(time.Now().UnixNano(), 36) // is in all that this run pushes
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	key, roots := os.Getenv("TEAMDATA_KEY"), x509.NewCertPool()
	pem, err := os.ReadFile(*caFile)
	if *org == "" || key == "" {
		log.Fatal("ingest: name the org with --org and put a key of it into TEAMDATA_KEY; see --help")
	} else if !roots.AppendCertsFromPEM(pem) && strings.HasPrefix(*server, "https:") {
		log.Fatalf("ingest: %s holds no CA (%v); name the file with the server's with --ca", *caFile, err)
	}
	public := client{base: *server + "/api/v1", key: key}
	public.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	admin := client{base: "http://teamdata/admin/v1/orgs/" + url.PathEscape(*org)}
	admin.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", *socket)
	}}
	time.AfterFunc(*timeout, func() { log.Fatalf("ingest: not all came within %s", *timeout) })
	done := make(chan error)
	go func() { done <- push(admin) }()
	go func() { done <- poll(public, "/audit-log", *entries) }()
	go func() { done <- poll(public, "/members", *members) }()
	for range 3 {
		if err := <-done; err != nil {
			log.Fatalf("ingest: %v", err)
		}
	}
	fmt.Printf("%d audit entries and %d members were pushed and read, each once and in order\n", *entries, *members)
}

func name(n int) string { return fmt.Sprintf("%s-%07d", run, n) }

func push(admin client) error {
	for from := 0; from < *entries; from += 1000 {
		var batch []map[string]string
		for i := from; i < min(from+1000, *entries); i++ {
			batch = append(batch, map[string]string{"action": "invoice.paid", "targetId": name(i)})
		}
		if err := admin.do("POST", "/audit-log/batch", name(from)+"-entries", map[string]any{"entries": batch}, new(any)); err != nil {
			return err
		}
	}
	for i := range *members {
		if err := admin.do("POST", "/members", name(i)+"-member", map[string]string{"userId": name(i), "role": "member"}, new(any)); err != nil {
			return err
		}
	}
	return nil
}

// poll reads a list from its start, until n records of this run have arrived and
// nothing follows them.
func poll(public client, list string, n int) error {
	for seen, after := 0, ""; ; {
		var page struct {
			Data    []struct{ UserID, TargetID string }
			Next    string
			HasMore bool
		}
		if err := public.do("GET", list+"?limit=100"+after, "", nil, &page); err != nil {
			return err
		}
		for _, item := range page.Data {
			if got, want := cmp.Or(item.UserID, item.TargetID), name(seen); got == want {
				seen++
			} else if strings.HasPrefix(got, run) {
				return fmt.Errorf("%s holds %s where %s should be", list, got, want)
			}
		}
		if page.Next != "" {
			after = "&after=" + url.QueryEscape(page.Next)
		}
		if !page.HasMore && seen == n {
			return nil
		} else if !page.HasMore {
			time.Sleep(time.Second) // a key may make 100 requests a minute
		}
	}
}

type client struct {
	http.Client
	base, key string
}

// do sends a request, and sends it again as long as the server answers with a
// Retry-After. With its Idempotency-Key a POST is executed once, however often it
// is sent.
func (c *client) do(method, path, idempotencyKey string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for {
		q, err := http.NewRequest(method, c.base+path, bytes.NewReader(content))
		if err != nil {
			return err
		}
		q.Header = http.Header{"Authorization": {"Bearer " + c.key}, "Idempotency-Key": {idempotencyKey}}
		response, err := c.Do(q)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")); seconds > 0 {
			time.Sleep(time.Duration(seconds) * time.Second)
			continue
		}
		if err == nil && response.StatusCode > 299 {
			err = fmt.Errorf("%s %s was answered %s: %s", method, path, response.Status, text)
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(text, answer)
	}
}
