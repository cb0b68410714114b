package settings

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

const keysPath = "/orgs/org_acme/keys"

// secretOf is the whole key that a page shows; empty when there is none.
func secretOf(r reply) string {
	found := regexp.MustCompile(`<code data-copy>([^<]+)</code>`).FindStringSubmatch(r.Body)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

// field is what a form holds in an input.
func (r reply) field(t testing.TB, name string) string {
	t.Helper()
	found := regexp.MustCompile(` name="` + name + `" value="([^"]*)"`).FindStringSubmatch(r.Body)
	if found == nil {
		t.Fatalf("the form has no field %s: %.4000s", name, r.Body)
	}
	return html.UnescapeString(found[1])
}

func (b *browser) newKey(form url.Values) reply {
	b.Helper()
	form.Set("nonce", b.get("/orgs/org_acme/new-key").field(b, "nonce"))
	return b.post("/orgs/org_acme/new-key", form)
}

func (w *env) keys() (keys []store.APIKey) {
	w.Helper()
	w.View(func(tx store.Tx) (err error) {
		keys, err = tx.APIKeys("org_acme", "", 1000)
		return err
	})
	return keys
}

func readKey(name string) url.Values {
	return url.Values{"name": {name}, "scopes": {"read"}, "expiry": {"90"}}
}

func TestKeyFromItsCreationToItsEnd(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	b.get(keysPath).wants(t, 200, "No API keys yet", "/settings/orgs/org_acme/new-key")

	made := b.newKey(readKey("nightly"))
	made.wants(t, 201, "Copy the key now", "curl \\\n  -H", b.server.URL+"/api/v1/members")
	id, secret, _ := strings.Cut(secretOf(made), ".")
	key := b.keys()[0]
	if key.ID != id || !key.SecretHash.Matches(secret) || key.Name != "nightly" || key.CreatedBy != "usr_ada" || key.Scopes != store.ScopeRead {
		t.Errorf("%q made %+v", secretOf(made), key)
	}
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Error("a browser may keep the page with the secret")
	}

	list := b.get(keysPath)
	list.wants(t, 200, "nightly", id, "active", "usr_ada")
	page := b.get(keysPath + "/" + id)
	page.wants(t, 200, "nightly", "Revoke…", "never")
	if strings.Contains(list.Body+page.Body, secret) {
		t.Error("the secret is shown again")
	}

	b.Update(func(tx store.Tx) error { return tx.PutKeyUse(id, store.KeyUse{LastUsedAt: b.Now()}) })
	b.get(keysPath+"/"+id).wants(t, 200, "2026-10-06T12:00:00.000Z")
	b.get(keysPath+"/"+id+"/revoke").wants(t, 200, "Revoke the API key <bdi>nightly</bdi>?</h1>", "This can't be undone", "last used", "401")
	if k := b.keys()[0]; !k.RevokedAt.IsZero() {
		t.Error("asking revoked it")
	}
	revoked := b.post(keysPath+"/"+id+"/revoke", nil)
	if revoked.Status != 303 || b.keys()[0].RevokedAt.IsZero() {
		t.Errorf("%d, %+v", revoked.Status, b.keys()[0])
	}
	b.get(strings.TrimPrefix(revoked.location(), Path)).wants(t, 200, "The key was revoked.", "It was revoked.")
	b.get(keysPath+"/"+id+"/revoke").wants(t, 200, "already revoked")
	equalActions(t, b.env, "apiKey.created", "apiKey.revoked")
}

// equalActions holds org_acme's audit log to actions, all of usr_ada.
func equalActions(t *testing.T, w *env, want ...string) {
	t.Helper()
	var got []string
	for _, e := range w.entries() {
		got = append(got, e.Action)
		if e.ActorID != "usr_ada" {
			t.Errorf("%s by %q", e.Action, e.ActorID)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the audit log has %v, want %v", got, want)
	}
}

// entries are those of org_acme's audit log, oldest first.
func (w *env) entries() (entries []store.AuditEntry) {
	w.Helper()
	w.View(func(tx store.Tx) error {
		page, err := tx.AuditPage("org_acme", store.Cursor{}, 1e6, []byte{'['})
		if err == nil {
			entries, err = store.AuditEntries(page)
		}
		return err
	})
	return entries
}

// A form that is sent several times at once makes one key, and one of the answers
// shows its secret.
func TestKeyFormSentTwice(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	form := readKey("twice")
	form.Set("nonce", b.get("/orgs/org_acme/new-key").field(t, "nonce"))
	replies := make([]reply, 6)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = b.post("/orgs/org_acme/new-key", form) })
	}
	all.Wait()
	shown := 0
	for _, r := range append(replies, b.post("/orgs/org_acme/new-key", form)) {
		if secretOf(r) != "" {
			shown++
			continue
		}
		r.wants(t, 200, "was already created", b.keys()[0].ID)
	}
	if keys := b.keys(); len(keys) != 1 || shown != 1 {
		t.Errorf("%d keys, and %d secrets", len(keys), shown)
	}
	b.newKey(readKey("twice")).wants(t, 201, "Copy the key now")
}

func TestKeyExpiry(t *testing.T) {
	for choice, want := range map[string]time.Time{
		"30": kit.Noon.AddDate(0, 0, 30), "90": kit.Noon.AddDate(0, 0, 90), "365": kit.Noon.AddDate(0, 0, 365), "never": {},
		"date 2026-10-06": time.Date(2026, 10, 6, 23, 59, 59, 999e6, time.UTC),
		"date 9999-12-31": store.MaxTime,
	} {
		b := newEnv(t).signedIn("usr_ada")
		form := readKey("")
		choice, date, _ := strings.Cut(choice, " ")
		form.Set("expiry", choice)
		form.Set("date", date)
		b.newKey(form).wants(t, 201)
		if got := b.keys()[0].ExpiresAt; !got.Equal(want) {
			t.Errorf("%s %s: expires at %v, want %v", choice, date, got, want)
		}
	}
}

func TestKeyFormErrors(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	for _, row := range []struct {
		name   string
		change map[string][]string
		field  string
	}{
		{"a long name", url.Values{"name": {strings.Repeat("é", 201)}}, "name"},
		{"a name that is no text", url.Values{"name": {"\xff"}}, "name"},
		{"no scope", url.Values{"scopes": nil}, "scopes"},
		{"no such scope", url.Values{"scopes": {"read", "<b>"}}, "scopes"},
		{"no expiry", url.Values{"expiry": nil}, "expiresAt"},
		{"no such expiry", url.Values{"expiry": {"7"}}, "expiresAt"},
		{"no date", url.Values{"expiry": {"date"}}, "expiresAt"},
		{"a date that is none", url.Values{"expiry": {"date"}, "date": {"2026-02-30"}}, "expiresAt"},
		{"yesterday", url.Values{"expiry": {"date"}, "date": {"2026-10-05"}}, "expiresAt"},
	} {
		form := readKey(`"><i>kept`)
		for name, values := range row.change {
			form[name] = values
		}
		r := b.newKey(form)
		r.wants(t, 400, `aria-invalid="true" aria-describedby="`+row.field+"-error", `id="`+row.field+`-error"`, `href="#`+row.field+`"`, `id="`+row.field+`"`)
		if row.field != "name" && !strings.Contains(r.Body, html.EscapeString(`"><i>kept`)) {
			t.Errorf("%s: what was given is gone", row.name)
		}
		if strings.Contains(r.Body, "<i>") || strings.Contains(r.Body, "<b>") {
			t.Errorf("%s: not escaped", row.name)
		}
	}
	b.post("/orgs/org_acme/new-key", url.Values{"name": {"x"}}).wants(t, 400)
	if n := len(b.keys()); n != 0 {
		t.Errorf("%d keys were made", n)
	}
	equalActions(t, b.env)
}

// A key says why it does not work any more.
func TestKeyStates(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		for id, k := range map[string]store.APIKey{
			"key_active":    {CreatedBy: "usr_ada", ExpiresAt: kit.Noon.Add(time.Hour)},
			"key_expired":   {CreatedBy: "usr_ada", ExpiresAt: kit.Noon},
			"key_suspended": {CreatedBy: "usr_grace"},
			"key_gone":      {CreatedBy: "usr_gone"},
			"key_revoked":   {CreatedBy: "usr_gone", RevokedAt: kit.Noon},
		} {
			k.ID, k.OrgID, k.Scopes = id, "org_acme", store.ScopeRead|store.ScopeWrite
			if _, err := store.ImportKey(tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	for id, why := range map[string]string{
		"key_expired": "It has expired.", "key_suspended": "is not an owner or admin of the org",
		"key_gone": "is not an owner or admin of the org", "key_revoked": "It was revoked.",
	} {
		b.get(keysPath+"/"+id).wants(t, 200, why, "read, write")
	}
	if r := b.get(keysPath + "/key_active"); strings.Contains(r.Body, "any more") {
		t.Errorf("the active key does not work: %s", r.Body)
	}
	b.get(keysPath).wants(t, 200, "Active<", "Expired<", "Revoked<", "Suspended<", "Unnamed")
}

func TestKeysPageByPage(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	const n = 2*maxShown + 7
	w.Update(func(tx store.Tx) error {
		for i := range n {
			_, err := store.ImportKey(tx, store.APIKey{ID: fmt.Sprintf("key_%03d", i), OrgID: "org_acme", Scopes: store.ScopeRead, CreatedBy: "usr_ada"})
			if err != nil {
				return err
			}
		}
		_, err := store.ImportKey(tx, store.APIKey{ID: "key_other", OrgID: "org_other", Name: "theirs", Scopes: store.ScopeRead, CreatedBy: "usr_olga"})
		return err
	})
	rows := b.walk(keysPath, regexp.MustCompile(`<code class="muted cut" title="(key_\w+)"`))
	if len(rows) != n || rows[0] != "key_000" || rows[n-1] != fmt.Sprintf("key_%03d", n-1) {
		t.Errorf("%d keys: %v", len(rows), rows)
	}
	b.get(keysPath+"?after=0.zzz").wants(t, 200, "No more keys", "First page")
	b.get(keysPath+"?after=zzz").wants(t, 400, "This page of the list does not exist")
}

// Which keys a filter shows; what is due to be looked at stands out.
func TestKeysFiltered(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		for _, k := range []store.APIKey{
			{ID: "key_new", Name: "Nightly export", ExpiresAt: tx.Now().Add(6 * 24 * time.Hour)},
			{ID: "key_used", Name: "Metrics", CreatedAt: tx.Now().Add(-90 * 24 * time.Hour)},
			{ID: "key_stale", Name: "Backfill", CreatedAt: tx.Now().Add(-31 * 24 * time.Hour)},
			{ID: "key_gone", Name: "Old export", RevokedAt: tx.Now().Add(-time.Hour)},
		} {
			k.OrgID, k.Scopes, k.CreatedBy = "org_acme", store.ScopeRead, "usr_ada"
			if _, err := store.ImportKey(tx, k); err != nil {
				return err
			}
		}
		return store.AddKeyUse(tx, "key_used", store.KeyUse{LastUsedAt: tx.Now().Add(-29 * 24 * time.Hour)})
	})
	row := regexp.MustCompile(`<code class="muted cut" title="(key_\w+)"`)
	for query, want := range map[string][]string{
		"":                        {"key_gone", "key_new", "key_stale", "key_used"},
		"?state=active":           {"key_new", "key_stale", "key_used"},
		"?state=unused":           {"key_stale"},
		"?state=ended":            {"key_gone"},
		"?q=EXPORT":               {"key_gone", "key_new"},
		"?q=export&state=active":  {"key_new"},
		"?q=key_s":                {"key_stale"},
		"?q=nothing":              nil,
		"?after=0.key_new&q=key_": {"key_stale", "key_used"},
	} {
		if got := b.walk(keysPath+query, row); !slices.Equal(got, want) {
			t.Errorf("%s shows %v, not %v", query, got, want)
		}
	}
	b.get(keysPath).wants(t, 200, `class="fourth is-due"><time`, `is-due">never`, ">in 6 d<")
	b.get(keysPath+"?q=nothing").wants(t, 200, "No keys match", "No key with “nothing” in its name, or at the beginning of its ID, was found.")
}

var nextPage = regexp.MustCompile(`href="([^"]+)">(?:Next page|Older|Search further(?: back)?)`)

// walk goes from page to page, and gathers what matches in the rows.
func (b *browser) walk(path string, row *regexp.Regexp) (found []string) {
	b.Helper()
	for range 1000 {
		r := b.get(path)
		r.wants(b, 200)
		rows := row.FindAllStringSubmatch(r.Body, -1)
		if len(rows) > maxShown {
			b.Fatalf("%s has %d rows", path, len(rows))
		}
		for _, match := range rows {
			found = append(found, html.UnescapeString(strings.Join(match[1:], "|")))
		}
		next := nextPage.FindStringSubmatch(r.Body)
		if next == nil {
			return found
		}
		path = strings.TrimPrefix(html.UnescapeString(next[1]), Path)
	}
	b.Fatal("the pages have no end")
	return nil
}

// Another org's key is not there.
func TestKeyOfAnotherOrg(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	w.Update(func(tx store.Tx) error {
		_, err := store.ImportKey(tx, store.APIKey{ID: "key_other", OrgID: "org_other", Name: "theirs", Scopes: store.ScopeRead, CreatedBy: "usr_olga"})
		return err
	})
	for _, org := range []string{"org_acme", "org_other", "org_none"} {
		for _, path := range []string{"/keys/key_other", "/keys/key_other/revoke", "/keys/key_none"} {
			b.get("/orgs/"+org+path).wants(t, 404)
		}
		b.post("/orgs/"+org+"/keys/key_other/revoke", nil).wants(t, 404)
	}
	b.post("/orgs/org_other/new-key", readKey("mine")).wants(t, 404)
	w.View(func(tx store.Tx) error {
		k, err := tx.APIKey("key_other")
		keys, _ := tx.APIKeys("org_other", "", 10)
		if !k.RevokedAt.IsZero() || len(keys) != 1 {
			t.Errorf("%+v, and %d keys", k, len(keys))
		}
		return err
	})
}
