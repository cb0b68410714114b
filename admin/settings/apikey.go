package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// keyRow is an API key as shown to people.
type keyRow struct {
	store.APIKey
	store.KeyUse
	State store.KeyState
	By    person   // who created it
	Names []string // of its Endpoints
}

// Receives reports whether it may pull events.
func (k keyRow) Receives() bool { return k.Scopes.Has(store.ScopeReceive) }

// Reason is why the key no longer works; empty while it does.
func (k keyRow) Reason() string {
	switch k.State {
	case store.KeyRevoked:
		return "It was revoked."
	case store.KeyExpired:
		return "It has expired."
	case store.KeySuspended:
		return "The person who created it is not an owner or admin of the org. It works again once they are."
	}
	return ""
}

func (r *request) keyRow(tx store.Tx, k store.APIKey) (keyRow, error) {
	access, err := store.AccessOf(tx, k)
	if err != nil {
		return keyRow{}, err
	}
	by, err := r.person(tx, k.CreatedBy)
	if err != nil {
		return keyRow{}, err
	}
	use, err := tx.KeyUse(k.ID)
	row := keyRow{k, use, access.State(r.Now), by, nil}
	for _, id := range k.Endpoints {
		e, notFound := tx.Endpoint(r.Org.ID, id)
		if notFound != nil && !store.IsNotFound(notFound) {
			err = notFound
		}
		row.Names = append(row.Names, cmp.Or(e.Description, id))
	}
	return row, err
}

// keysThatPull are the keys that work and may pull from an endpoint, as far as they are
// searched.
func (r *request) keysThatPull(tx store.Tx, id string) (rows []keyRow, err error) {
	keys, err := tx.APIKeys(r.Org.ID, "", store.MaxKeysNamed)
	for _, k := range keys {
		if err != nil || !k.Scopes.Has(store.ScopeReceive) || !k.MayPull(id) {
			continue
		}
		var row keyRow
		if row, err = r.keyRow(tx, k); err == nil && row.State == store.KeyActive {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// Unused reports whether a key works and was not used for keyUnusedFor.
func (k keyRow) Unused(now time.Time) bool {
	used := k.LastUsedAt
	if used.IsZero() {
		used = k.CreatedAt
	}
	return k.State == store.KeyActive && now.Sub(used) > keyUnusedFor
}

// ExpiresSoon reports whether a key works and will have expired in a week.
func (k keyRow) ExpiresSoon(now time.Time) bool {
	return k.State == store.KeyActive && !k.ExpiresAt.IsZero() && k.ExpiresAt.Sub(now) < 7*wholeDay
}

// keyUnusedFor is after how long a key that was not used is better revoked.
const keyUnusedFor = 30 * wholeDay

// keyFilters are the filters of the list by how keys are.
var keyFilters = []struct {
	Value, Text string
	match       func(k keyRow, now time.Time) bool
}{
	{"", "All", func(keyRow, time.Time) bool { return true }},
	{"active", "Active", func(k keyRow, _ time.Time) bool { return k.State == store.KeyActive }},
	{"unused", "Not used for 30 days", keyRow.Unused},
	{"ended", "Ended", func(k keyRow, _ time.Time) bool { return k.State != store.KeyActive }},
}

type keysPage struct {
	Query string // part of the name, or beginning of the id; empty: any
	State string // one of keyFilters
	listPage[keyRow]
	Now time.Time
}

// Filters are the choices of State.
func (keysPage) Filters() any { return keyFilters }

// Filtered reports whether not all keys are shown.
func (p keysPage) Filtered() bool { return p.Query != "" || p.State != "" }

// Nothing says in words that the filter selects no keys.
func (p keysPage) Nothing() string {
	text := "No key"
	if p.Query != "" {
		text += " with “" + p.Query + "” in its name, or at the beginning of its ID,"
	}
	return text + cmp.Or(map[string]string{"active": " is active.", "unused": " was unused for 30 days.", "ended": " has ended."}[p.State], " was found.")
}

// match reports whether the filter lets a key pass.
func (p keysPage) match(k keyRow) bool {
	for _, f := range keyFilters {
		if f.Value == p.State && !f.match(k, p.Now) {
			return false
		}
	}
	return p.Query == "" || containsFold(p.Query)(k.Name) || strings.HasPrefix(k.ID, p.Query)
}

func (r *request) listKeys() error {
	query := r.HTTP.URL.Query()
	p := keysPage{Query: strings.TrimSpace(query.Get("q")), State: query.Get("state")}
	return r.Show(200, "apikeys", &p, func(tx store.Tx) (err error) {
		p.Now = r.Now
		p.listPage, err = search(r, records[store.APIKey, keyRow]{
			path: r.path("keys"), filter: []string{"q", p.Query, "state", p.State}, param: "after",
			read: func(from store.Cursor, limit int) ([]store.APIKey, error) {
				return tx.APIKeys(r.Org.ID, from.ID, limit)
			},
			at: func(k store.APIKey) store.Cursor { return store.Cursor{ID: k.ID} }, // a position without a time
			row: func(k store.APIKey) (keyRow, bool, error) {
				row, err := r.keyRow(tx, k)
				return row, p.match(row), err
			},
		})
		return err
	})
}

func (r *request) showKey() error { return r.renderKey("apikey") }

func (r *request) confirmRevokeKey() error { return r.renderKey("apikey_revoke") }

// renderKey is a page about the key of the path.
func (r *request) renderKey(page string) error {
	var row keyRow
	return r.Show(200, page, &row, func(tx store.Tx) error {
		k, err := store.FindKey(tx, r.Org.ID, r.Param("key"))
		if err != nil {
			return err
		}
		row, err = r.keyRow(tx, k)
		return err
	})
}

func (r *request) revokeKey() error {
	id := r.Param("key")
	return r.do("key-revoked", r.path("keys", id), func(tx store.Tx) error { return store.RevokeKey(tx, r.actor(), r.Org.ID, id) })
}

// keyForm is the form that creates a key, with what the person entered.
type keyForm struct {
	Err         *store.Error // nil: nothing is wrong
	Name        string
	Read, Write bool
	Receive     bool
	Endpoints   []string         // ids of those to pull from that are chosen
	Pulled      []store.Endpoint // to choose from
	Expiry      string           // one of expiries
	Date        string           // of the choice expiryDate
	Expiries    []expiry
}

// Chosen reports whether an endpoint is.
func (f *keyForm) Chosen(id string) bool { return slices.Contains(f.Endpoints, id) }

// expiry is a choice in the form.
type expiry struct {
	Value, Text string
	days        int // 0: not a number of days
}

// The two choices that are not a number of days.
const (
	expiryNever = "never"
	expiryDate  = "date"
)

var expiries = []expiry{
	{"30", "in 30 days", 30}, {"90", "in 90 days", 90}, {"365", "in a year", 365},
	{expiryNever, "never", 0}, {expiryDate, "on a date", 0},
}

func (r *request) newKey() error {
	f := &keyForm{Expiry: "90"}
	query := r.HTTP.URL.Query()
	f.choose(cmp.Or(strings.Join(query["scopes"], " "), "read"))
	f.Endpoints = query["endpoints"]
	return r.showKeyForm(200, f)
}

// choose ticks scopes, whose names have spaces between them.
func (f *keyForm) choose(scopes string) {
	for _, name := range strings.Fields(scopes) {
		f.Read, f.Write, f.Receive = f.Read || name == "read", f.Write || name == "write", f.Receive || name == "receive"
	}
}

func (r *request) showKeyForm(status int, f *keyForm) error {
	f.Expiries = expiries
	return r.Show(status, "apikey_form", f, func(tx store.Tx) error {
		endpoints, err := tx.Endpoints(r.Org.ID)
		f.Pulled = slices.DeleteFunc(endpoints, func(e store.Endpoint) bool { return !e.Pull() })
		return err
	})
}

// keyCreated is the data of apikey_created.html, the only page that shows the secret.
type keyCreated struct {
	Key   store.APIKey
	Row   keyRow
	Whole string // <id>.<secret>
	Again bool   // the form was sent before: Whole is empty, and Key has only its id
	By    person // who created it
	Curl  string // a command to try it with
	Call  string // the path that the page itself can get with the key; empty: it can't read
	OwnCA bool   // the command names the file of the server's own CA
}

func (r *request) createKey() error {
	var made keyCreated
	id, again, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		k, err := r.keyOfForm()
		if err != nil {
			return "", err
		}
		k, secret, err := store.CreateKey(tx, r.actor(), k)
		if err != nil {
			return "", err
		}
		made.Key, made.Whole = k, k.ID+"."+secret
		return k.ID, made.findTry(r, tx)
	})
	if err != nil {
		return r.OnForm(err, r.rerenderKeyForm)
	}
	if again {
		return r.Render(http.StatusOK, "apikey_created", keyCreated{Key: store.APIKey{ID: id}, Again: true})
	}
	return r.Render(http.StatusCreated, "apikey_created", made)
}

// findTry fills in what one may try at once: a key that can't read sends a test.
func (p *keyCreated) findTry(r *request, tx store.Tx) (err error) {
	p.OwnCA = r.ownCA()
	if p.By, err = r.person(tx, p.Key.CreatedBy); err != nil {
		return err
	}
	if p.Row, err = r.keyRow(tx, p.Key); err != nil {
		return err
	}
	if p.Key.Scopes.Has(store.ScopeRead) {
		p.Curl, p.Call = r.curlAPI("", "/members"), "/api/v1/members"
		return nil
	}
	endpoints, err := tx.Endpoints(r.Org.ID)
	pulls := p.Row.Receives() && !p.Key.Scopes.Has(store.ScopeWrite)
	id := "ENDPOINT"
	for _, e := range endpoints {
		if !pulls || e.Pull() && p.Key.MayPull(e.ID) {
			id = e.ID
			break
		}
	}
	if pulls {
		p.Curl = r.curl("-d '{}' ", r.pullURL(id))
		return err
	}
	p.Curl = r.curlAPI("-X POST ", "/webhooks/"+id+"/test")
	return err
}

// keyOfForm is the key that the form describes.
func (r *request) keyOfForm() (store.APIKey, error) {
	k := store.APIKey{OrgID: r.Org.ID, Name: r.Field("name"), CreatedBy: r.actor(), Endpoints: r.HTTP.PostForm["endpoints"]}
	for _, name := range r.HTTP.PostForm["scopes"] {
		scope, err := store.ParseScope(name)
		if err != nil {
			return k, store.Invalid("scopes", "%s", err)
		}
		k.Scopes |= scope
	}
	var err error
	k.ExpiresAt, err = expiresAt(r.Field("expiry"), r.Field("date"), r.Now)
	return k, err
}

// expiresAt is when a key expires: zero for never; a date means its end, in UTC.
func expiresAt(choice, date string, now time.Time) (time.Time, error) {
	for _, e := range expiries {
		switch {
		case e.Value != choice:
		case choice == expiryDate:
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return time.Time{}, store.Invalid("expiresAt", "Enter a date such as 2030-12-31.")
			}
			return day.AddDate(0, 0, 1).Add(-time.Millisecond), nil
		case choice == expiryNever:
			return time.Time{}, nil
		default:
			return now.AddDate(0, 0, e.days), nil
		}
	}
	return time.Time{}, store.Invalid("expiresAt", "Choose when the key expires.")
}

// rerenderKeyForm shows the form as it was sent, with the error.
func (r *request) rerenderKeyForm(status int, e *store.Error) error {
	f := &keyForm{Err: e, Name: r.Field("name"), Expiry: r.Field("expiry"), Date: r.Field("date"), Endpoints: r.HTTP.PostForm["endpoints"]}
	f.choose(strings.Join(r.HTTP.PostForm["scopes"], " "))
	return r.showKeyForm(status, f)
}
