package clients

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// goClients are the Go clients of one server.
type goClients struct {
	clientServer
	reader *teamdata.Client
	admin  *admin.Client
}

func openGoClients(t *testing.T) goClients {
	t.Helper()
	s := serveClients(t)
	trusting, err := teamdata.TrustCA(s.CAFile)
	kit.Must(t, err)
	return goClients{s, teamdata.New(teamdata.Config{BaseURL: s.URL + "/", Key: program.ReadKey + "\n", HTTP: trusting}), admin.OverSocket(s.socket)}
}

// behind makes a client whose first requests suffer these faults, one each, and
// tells what was requested.
func (s goClients) behind(t *testing.T, faults string, more teamdata.Config) (*teamdata.Client, func() []string) {
	t.Helper()
	way := faults + "/" + rand.Text()
	more.BaseURL, more.Key = s.front+"/"+way, program.WriteKey
	return teamdata.New(more), func() (seen []string) {
		t.Helper()
		answer, err := http.Get(s.front + "/seen/" + way)
		kit.Must(t, err)
		defer answer.Body.Close()
		kit.Must(t, json.NewDecoder(answer.Body).Decode(&seen))
		return seen
	}
}

func collect[T any](t *testing.T, l teamdata.List[T]) (items []T) {
	t.Helper()
	for item, err := range l.All(t.Context()) {
		kit.Must(t, err)
		items = append(items, item)
	}
	return items
}

// done is for calls that succeed.
func done[T any](answer T, err error) T {
	if err != nil {
		panic(err)
	}
	return answer
}

func codeOf(err error) string {
	if refused, ok := errors.AsType[*teamdata.Error](err); ok {
		return refused.Code
	}
	return fmt.Sprintf("no answer: %v", err)
}

func TestGoClient(t *testing.T) {
	t.Parallel()
	s := openGoClients(t)
	t.Run("lists", s.testLists)
	t.Run("errors", s.testErrors)
	t.Run("retries", s.testRetries)
	t.Run("idempotency keys", s.testIdempotencyKeys)
	t.Run("not retried", s.testNotRetried)
	t.Run("contexts", s.testContexts)
	t.Run("admin", s.testAdmin)
}

func (s goClients) testLists(t *testing.T) {
	members := s.reader.ListMembers().Limit(2)
	var users []string
	for _, m := range collect(t, members) {
		users = append(users, m.UserID)
	}
	if want := strings.Fields("usr_ada usr_bruno usr_chloe usr_deniz usr_emiko"); !slices.Equal(users, want) {
		t.Errorf("got %q", users)
	}
	var pages []teamdata.Page[teamdata.Member]
	for page, err := range members.Pages(t.Context()) {
		kit.Must(t, err)
		pages = append(pages, page)
	}
	if len(pages) != 3 || len(pages[2].Data) != 1 {
		t.Fatalf("got %+v", pages)
	}
	for m, err := range members.After(pages[0].Next).All(t.Context()) {
		if err != nil || m.UserID != "usr_chloe" {
			t.Errorf("after the first page comes %+v, %v", m, err)
		}
		break
	}
	for page, err := range members.After(pages[2].Next).Pages(t.Context()) {
		if err != nil || len(page.Data) != 0 || page.HasMore || page.Next != pages[2].Next {
			t.Errorf("after the last page comes %+v, %v", page, err)
		}
	}
	for _, err := range teamdata.New(teamdata.Config{BaseURL: s.URL, Key: "key_x.y", HTTP: s.Client}).ListAuditLog().All(t.Context()) {
		if codeOf(err) != teamdata.CodeUnauthorized {
			t.Errorf("with another key: %v", err)
		}
	}
}

func (s goClients) testErrors(t *testing.T) {
	_, err := s.reader.TestWebhook(t.Context(), "whe_hook")
	refused, ok := errors.AsType[*teamdata.Error](err)
	if !ok || refused.Status != 403 || refused.Code != teamdata.CodeForbidden || refused.Message == "" || refused.RequestID != refused.Header.Get("X-Request-Id") {
		t.Errorf("got %#v", err)
	}
	for _, err := range s.reader.ListMembers().Limit(101).All(t.Context()) {
		refused, ok := errors.AsType[*teamdata.Error](err)
		if !ok || refused.Code != teamdata.CodeBadRequest || refused.Field != "limit" || refused.Docs != s.URL+"/docs#badRequest" {
			t.Errorf("got %#v", err)
		}
	}
	var header http.Header
	done(s.reader.GetAssistantInstructions(t.Context(), teamdata.ResponseHeader(&header)))
	_, err = s.reader.GetAssistantInstructions(t.Context(), teamdata.SetHeader("If-None-Match", header.Get("ETag")))
	if unchanged, ok := errors.AsType[*teamdata.Error](err); !ok || unchanged.Status != http.StatusNotModified {
		t.Errorf("what has not changed is answered %v", err)
	}
	for _, config := range []teamdata.Config{{BaseURL: "data.example.com"}, {BaseURL: "data.example.com:8443"}, {}, {BaseURL: s.URL, Key: "key_1.sec\nret"}} {
		if _, err := teamdata.New(config).GetAssistantInstructions(t.Context()); err == nil || strings.Contains(err.Error(), "ret,") || !strings.Contains(err.Error(), "must be") {
			t.Errorf("%+v: %v", config, err)
		}
	}
	var attempts attempts
	untrusting := teamdata.New(teamdata.Config{BaseURL: s.URL, HTTP: &http.Client{Transport: &attempts}})
	if _, err := untrusting.GetAssistantInstructions(t.Context()); err == nil || attempts != 1 {
		t.Errorf("a certificate that is not trusted, after %d attempts: %v", attempts, err)
	}
}

// attempts counts the requests that a client sends.
type attempts int

func (a *attempts) RoundTrip(q *http.Request) (*http.Response, error) {
	*a++
	return http.DefaultTransport.RoundTrip(q)
}

func (s goClients) testRetries(t *testing.T) {
	client, seen := s.behind(t, "lost,cut,unavailable", teamdata.Config{})
	deliveries := s.admin.ListDeliveries("org_acme", admin.DeliveryFilter{Endpoint: new("whe_hook")})
	before := len(collect(t, deliveries))
	var header http.Header
	sent, err := client.TestWebhook(t.Context(), "whe_hook", teamdata.ResponseHeader(&header))
	if err != nil || !strings.HasPrefix(sent.ID, "whd_") || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%+v, %v, %v", sent, err, header)
	}
	if n := len(collect(t, deliveries)); n != before+1 {
		t.Errorf("%d test events were sent", n-before)
	}
	requests := seen()
	if len(requests) != 4 || len(slices.Compact(requests)) != 1 || !strings.HasPrefix(requests[0], "POST /api/v1/webhooks/whe_hook/test ") {
		t.Errorf("it requested %q", requests)
	}

	client, seen = s.behind(t, "lost,running", teamdata.Config{})
	if _, err := client.TestWebhook(t.Context(), "whe_hook"); err != nil || len(seen()) != 3 {
		t.Errorf("while the first attempt still runs: %v, %q", err, seen())
	}

	client, seen = s.behind(t, "limited", teamdata.Config{})
	start := time.Now()
	if _, err := client.GetAssistantInstructions(t.Context()); codeOf(err) != teamdata.CodeForbidden || time.Since(start) < time.Second || len(seen()) != 2 {
		t.Errorf("over the limit: %v after %s, %q", err, time.Since(start), seen())
	}
}

func (s goClients) testIdempotencyKeys(t *testing.T) {
	client, seen := s.behind(t, "", teamdata.Config{})
	first, second := done(client.TestWebhook(t.Context(), "whe_hook")), done(client.TestWebhook(t.Context(), "whe_hook"))
	own := teamdata.IdempotencyKey(rand.Text())
	third, again := done(client.TestWebhook(t.Context(), "whe_hook", own)), done(client.TestWebhook(t.Context(), "whe_hook", own))
	if first == second || third == second || third != again {
		t.Errorf("%v %v %v %v by %q", first, second, third, again, seen())
	}
}

func (s goClients) testNotRetried(t *testing.T) {
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // net/http sends again where a kept connection ends
	for _, tt := range []struct {
		faults string
		config teamdata.Config
		code   string
	}{
		{"later", teamdata.Config{}, teamdata.CodeUnavailable}, // asks for more than a minute
		{"unavailable", teamdata.Config{Retries: -1}, teamdata.CodeUnavailable},
		{"running", teamdata.Config{}, teamdata.CodeConflict}, // no attempt of this call is running
		{"proxy", teamdata.Config{Retries: -1}, ""},
		{"lost", teamdata.Config{Retries: -1, HTTP: once}, "no answer: "},
	} {
		client, seen := s.behind(t, tt.faults, tt.config)
		_, err := client.TestWebhook(t.Context(), "whe_hook")
		if code := codeOf(err); !strings.HasPrefix(code, tt.code) || tt.code == "" && code != "" || len(seen()) != 1 {
			t.Errorf("%s: %v after %d requests", tt.faults, err, len(seen()))
		}
	}
	// Where a busy machine sends no request in time, there is another with more.
	for timeout, requests := 50*time.Millisecond, 0; requests == 0; timeout *= 2 {
		client, seen := s.behind(t, "slow", teamdata.Config{Retries: -1, Timeout: timeout})
		_, err := client.TestWebhook(t.Context(), "whe_hook")
		if requests = len(seen()); requests > 1 || !strings.HasPrefix(codeOf(err), "no answer: ") {
			t.Errorf("no answer within %s: %v after %d requests", timeout, err, requests)
		}
	}
}

func (s goClients) testContexts(t *testing.T) {
	client, seen := s.behind(t, "patience", teamdata.Config{})
	short, cancel := context.WithTimeout(t.Context(), 50*time.Second) // the fault asks for a minute
	defer cancel()
	if _, err := client.TestWebhook(short, "whe_hook"); codeOf(err) != teamdata.CodeUnavailable || short.Err() != nil || len(seen()) != 1 {
		t.Errorf("a wait longer than the context: %v, when the context said %v", err, short.Err())
	}
	for _, faults := range []string{"slow", "patience"} {
		client, seen := s.behind(t, faults, teamdata.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := client.TestWebhook(ctx, "whe_hook")
			ended <- err
		}()
		s.Await("the request", func() bool { return len(seen()) == 1 })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", faults, err)
		}
	}
}

func (s goClients) testAdmin(t *testing.T) {
	ctx, c, org := t.Context(), s.admin, "org_go"
	done(c.CreateOrg(ctx, admin.NewOrg{Name: "Go", ID: new(org)}))
	done(c.AddMember(ctx, org, admin.NewMember{UserID: "usr_ada", Role: "owner", Name: new("Ada")}))
	if changed := done(c.UpdateMember(ctx, org, "usr_ada", admin.MemberChange{Name: new("")}, admin.Actor("usr_ada"))); changed.Name != "" || changed.Role != "owner" {
		t.Errorf("changed to %+v", changed)
	}
	ids := done(c.AddAuditEntries(ctx, org, []admin.NewAuditLogEntry{{Action: "door.opened"}, {Action: "door.closed"}}, admin.Actor("usr_ada")))
	entries := collect(t, c.ListAuditLog(org))
	for i, e := range entries[len(entries)-2:] {
		if e.ID != ids[i] || *e.ActorID != "usr_ada" {
			t.Errorf("entry %+v, of %q", e, ids)
		}
	}

	outcomes := done(c.AddMembers(ctx, org, admin.NewMembers{Upsert: new(true), Members: []admin.NewMember{{UserID: "usr_ada", Role: "owner"}, {UserID: "usr_bob", Role: "member"}}}))
	if len(outcomes) != 2 || outcomes[0].Result != admin.MemberOutcomeResultUnchanged || outcomes[1].Result != admin.MemberOutcomeResultAdded {
		t.Errorf("of the members became %+v", outcomes)
	}
	if put := done(c.PutMember(ctx, org, "usr_bob", admin.MemberValues{Role: "admin"})); put.Role != "admin" {
		t.Errorf("put %+v", put)
	}

	_, etag, err := c.ReadInstructions(ctx, org)
	if err != nil || etag == "" {
		t.Fatal(etag, err)
	}
	done(c.PutInstructions(ctx, org, admin.InstructionsChange{Instructions: new("Be brief.")}, admin.IfMatch(etag)))
	if err := c.ClearInstructions(ctx, org, admin.IfMatch(etag)); codeOf(err) != teamdata.CodePreconditionFailed {
		t.Errorf("with an old ETag: %v", err)
	}
	if err := c.ClearInstructions(ctx, org); err != nil {
		t.Error(err)
	}

	endpoint := done(c.CreateEndpoint(ctx, org, admin.NewEndpoint{URL: "https://example.com/hook", Events: []string{"assistant.instructionsChanged"}}))
	rotated := done(c.RotateSecret(ctx, org, endpoint.ID, admin.Rotation{OverlapSeconds: new(60)}))
	if secrets := done(c.ReadSecret(ctx, org, endpoint.ID)); secrets.Secret != *rotated.Secret || *secrets.OldSecret != *endpoint.Secret {
		t.Errorf("the secrets are %+v", secrets)
	}
	done(c.DisableEndpoint(ctx, org, endpoint.ID))
	sent := done(c.SendEvent(ctx, org, admin.NewEvent{Type: "assistant.instructionsChanged", Data: map[string]any{"orgId": org}}))
	if held := collect(t, c.ListDeliveries(org, admin.DeliveryFilter{State: new("held"), Since: new(time.UnixMilli(0))})); len(sent) != 1 || len(held) != 1 || held[0].ID != sent[0] {
		t.Errorf("sent %q, held %+v", sent, held)
	}
	held := admin.NewReplay{Filter: &admin.DeliveryFilter{State: new("held"), Endpoint: &endpoint.ID}} // what was never attempted is not replayed
	replay := done(c.CreateReplay(ctx, org, held, admin.Actor("usr_ada")))
	if replay.ID == "" || replay.Total != 0 || *replay.Filter.State != "held" || *replay.ActorID != "usr_ada" {
		t.Errorf("the replay is %+v", replay)
	}
	if all := collect(t, c.ListReplays(org)); len(all) != 1 || all[0].ID != replay.ID {
		t.Errorf("the replays are %+v", all)
	}
	if now := done(c.CancelReplay(ctx, org, replay.ID)); now.State == admin.ReplayStateRunning || now.State != done(c.ReadReplay(ctx, org, replay.ID)).State {
		t.Errorf("cancelled, it is %+v", now)
	}
	held.DryRun = new(true)
	if count := done(c.CreateReplay(ctx, org, held)); count.ID != "" || count.Total != 0 || len(count.Endpoints) != 0 {
		t.Errorf("it would replay %+v", count)
	}
	event := admin.NewEvent{Type: "assistant.instructionsChanged", Data: map[string]any{"orgId": org}}
	if many := done(c.SendEvents(ctx, org, []admin.NewEvent{event, event})); len(many) != 2 || len(many[1]) != 1 {
		t.Errorf("sent %+v", many)
	}
	if err := c.DeleteEndpoint(ctx, org, endpoint.ID); err != nil {
		t.Error(err)
	}

	link := done(c.CreateSignInLink(ctx, org, "usr_ada", admin.NewSignInLink{}))
	if link.URL == nil || link.UserID != "usr_ada" || link.MailedTo != "" {
		t.Errorf("the link is %+v", link)
	}
	portal := done(c.CreatePortalLink(ctx, org, admin.NewPortalLink{UserID: "usr_guest", Role: admin.NewPortalLinkRoleViewer}))
	if portal.URL == nil || portal.UserID != "usr_guest" || portal.Role != admin.PortalLinkRoleViewer {
		t.Errorf("the portal link is %+v", portal)
	}
	if err := c.DeleteOrg(ctx, org); err != nil {
		t.Error(err)
	}
	if _, err := c.ReadOrg(ctx, org); codeOf(err) != teamdata.CodeNotFound {
		t.Errorf("a deleted org: %v", err)
	}
	var backup bytes.Buffer
	if n := done(c.ReadBackup(ctx, &backup)); n == 0 || n != int64(backup.Len()) {
		t.Errorf("a backup of %d bytes, %d of which came", n, backup.Len())
	}
	if _, err := c.ReadBackup(ctx, cutOff{}); !errors.Is(err, errCutOff) {
		t.Errorf("to a full disk: %v", err)
	}
}

// A server for tests moves its clock, and forgets what it was told.
func TestGoClientOfTestClock(t *testing.T) {
	ctx, c := t.Context(), admin.OverSocket(serveClients(t, "--test-clock").socket)
	before := done(c.ReadClock(ctx))
	if after := done(c.AdvanceClock(ctx, 13*time.Hour)); after.Now.Sub(before.Now) < 13*time.Hour {
		t.Errorf("from %s to %s", before.Now, after.Now)
	}
	done(c.AddMember(ctx, "org_acme", admin.NewMember{UserID: "usr_zoe", Role: "member"}))
	done(c.ResetData(ctx))
	if _, err := c.ReadMember(ctx, "org_acme", "usr_zoe"); codeOf(err) != teamdata.CodeNotFound {
		t.Errorf("after the reset: %v", err)
	}
}

var errCutOff = errors.New("the disk is full")

type cutOff struct{}

func (cutOff) Write([]byte) (int, error) { return 0, errCutOff }
