package settings

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// fieldTags are the fields of the forms in a page of ours.
var (
	fieldTags  = regexp.MustCompile(`<(?:input|select|textarea|button)[^>]* name="[^>]*>`)
	nameValue  = regexp.MustCompile(` name="([^"]*)"`)
	valueValue = regexp.MustCompile(` value="([^"]*)"`)
)

// field is one of a form, and what a browser sends when a person leaves it alone
// or ticks it.
type field struct{ name, value string }

func fieldsOf(page string) (fields []field) {
	for _, tag := range fieldTags.FindAllString(page, -1) {
		f := field{name: html.UnescapeString(nameValue.FindStringSubmatch(tag)[1])}
		if m := valueValue.FindStringSubmatch(tag); m != nil {
			f.value = html.UnescapeString(m[1])
		}
		fields = append(fields, f)
	}
	return fields
}

// attacker is an env whose admin usr_alan sends anything anywhere, and manages only
// org_acme, not org_other.
type attacker struct {
	*browser
	before     string             // what org_other is
	delivery   string             // of whe_mine
	event      string             // of that delivery
	theirs     string             // a delivery of whe_other
	theirEvent string             // of that delivery
	fields     map[string][]field // by the path of their page, as the table has it
}

func newAttacker(t testing.TB) *attacker {
	w := newEnv(t)
	s := &attacker{browser: w.signedIn("usr_alan"), fields: map[string][]field{}}
	s.arrange()
	s.Update(fillHostile)
	s.Update(s.arrangeOther)
	s.before = s.other()
	for _, rt := range routes {
		if rt.method == http.MethodGet {
			s.fields[rt.path] = fieldsOf(s.get(s.fill(rt.path, s.mine)).Body)
		}
	}
	return s
}

// others is what a parameter of a path must not be.
func (s *attacker) others(param string) string {
	return map[string]string{orgParam: "org_other", "endpoint": "whe_other", "key": "key_other", "delivery": s.theirs, "event": s.theirEvent, "member": "usr_olga"}[param]
}

// mine is what a parameter of a path may be.
func (s *attacker) mine(param string) string {
	return map[string]string{orgParam: "org_acme", "endpoint": "whe_mine", "key": "key_mine", "delivery": s.delivery, "event": s.event, "member": "usr_grace"}[param]
}

// fill fills in the parameters of a route's path.
func (s *attacker) fill(path string, value func(param string) string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = url.PathEscape(value(name))
		}
	}
	return strings.Join(parts, "/")
}

// other is all that org_other has.
func (s *attacker) other() string {
	var b bytes.Buffer
	s.View(func(tx store.Tx) error {
		org, err := tx.Org("org_other")
		if err != nil {
			return err
		}
		members, err := tx.MemberPage(org.ID, store.Cursor{}, 100, nil)
		if err != nil {
			return err
		}
		entries, err := tx.AuditPage(org.ID, store.Cursor{}, 100, nil)
		if err != nil {
			return err
		}
		endpoints, err := tx.Endpoints(org.ID)
		if err != nil {
			return err
		}
		keys, err := tx.APIKeys(org.ID, "", 100)
		if err != nil {
			return err
		}
		delivery, err := tx.Delivery(s.theirs)
		if err != nil {
			return err
		}
		instructions, err := tx.Instructions(org.ID)
		fmt.Fprint(&b, org, string(members.Items), string(entries.Items), endpoints, keys, delivery, instructions)
		return err
	})
	return b.String()
}

// throw sends a body to a route, and holds the answer to what must be so whatever
// was sent.
func (s *attacker) throw(rt *route, path, query string, body []byte) {
	s.Helper()
	address := s.server.URL + Path + path + query
	r, err := http.NewRequestWithContext(s.Context(), rt.method, address, bytes.NewReader(body))
	if err != nil {
		return // no URL
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := s.client.Do(r)
	if err != nil {
		s.Fatalf("%s %s: %v", rt.method, address, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatalf("%s %s: %v", rt.method, address, err)
	}
	if res.StatusCode >= 500 {
		s.Errorf("%s %s with %.300q: answered %d", rt.method, address, body, res.StatusCode)
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		if at := escaped.FindIndex(answer); at != nil {
			s.Errorf("%s %s with %.300q: the page holds it as it is, at %v: %.2000s", rt.method, address, body, at, answer)
		}
	}
	if now := s.other(); now != s.before {
		s.Fatalf("%s %s with %.300q: org_other became %s, it was %s", rt.method, address, body, now, s.before)
	}
	s.renew(res)
}

// renew signs in again, once the session is over.
func (s *attacker) renew(res *http.Response) {
	s.Helper()
	s.arrange()
	if strings.HasPrefix(res.Header.Get("Location"), Path+"/sign-in") || strings.Contains(res.Request.URL.Path, "/sign-") {
		s.browser = s.signedIn("usr_alan")
	}
}

// stored is a text that each page shows as it is, and that wants to leave its place.
const stored = `<zz> "zz=" 'zz=' </textarea><zz>`

// fillHostile writes it wherever a text may be.
func fillHostile(tx store.Tx) error {
	_, err := store.RenameOrg(tx, "", "org_acme", stored)
	if err == nil {
		_, err = tx.AppendMember(store.Member{OrgID: "org_acme", UserID: "usr_zz", Role: stored, Name: stored, Email: `"<zz>"@x.example`}) // older than the rule
	}
	if err == nil {
		err = store.SetInstructions(tx, "usr_alan", "org_acme", stored, true)
	}
	if err == nil {
		err = store.AddPasskey(tx, "usr_alan", store.Passkey{ID: "pk", Name: stored, Credential: []byte(stored)})
	}
	if err == nil {
		_, _, err = store.CreateSession(tx, "usr_alan", stored)
	}
	return err
}

// arrange makes what the forms are for, as far as it is not there (any more).
func (s *attacker) arrange() {
	s.Helper()
	s.Update(func(tx store.Tx) error {
		if _, err := tx.Endpoint("org_acme", "whe_mine"); store.IsNotFound(err) {
			if err := s.arrangeEndpoint(tx); err != nil {
				return err
			}
		}
		if _, err := tx.Member("org_acme", "usr_grace"); store.IsNotFound(err) {
			if _, err := store.ImportMember(tx, store.Member{OrgID: "org_acme", UserID: "usr_grace", Role: store.RoleMember, Email: "grace@acme.example"}); err != nil {
				return err
			}
		}
		if _, err := tx.APIKey("key_mine"); err == nil {
			return nil
		}
		_, err := store.ImportKey(tx, store.APIKey{ID: "key_mine", OrgID: "org_acme", Name: stored, Scopes: store.ScopeRead, CreatedBy: "usr_alan"})
		return err
	})
}

// arrangeEndpoint makes whe_mine, whose texts are stored, with a delivery that was
// answered.
func (s *attacker) arrangeEndpoint(tx store.Tx) error {
	e := storetest.Sample[store.Endpoint](storetest.Values{Text: stored, Most: true})
	e.Sending = store.SendOptions{} // whose texts have forms of their own
	e.ID, e.OrgID, e.URL, e.Events, e.Secret, e.OldSecret = "whe_mine", "org_acme", `https://acme.example/'zz='<zz>`, []string{"member.added"}, "", ""
	e.Number, e.DisabledBy, e.DisabledReason = 0, "", "" // of a disabled one only
	chain, key := issued(s, stored, stored, tx.Now().Add(time.Hour))
	e.Sending = store.SendOptions{Rate: "10/s", MaxInFlight: 4, ClientCertificate: chain, ClientKey: key, CA: chain}
	e.Sending.SetHeaders([]string{"zz'&zz"}, []string{stored})
	if _, err := store.ImportEndpoint(tx, e); err != nil {
		return err
	}
	d, err := store.SendTest(tx, "org_acme", "whe_mine")
	if err != nil {
		return err
	}
	s.delivery, s.event = d.ID, d.EventID
	a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 500, Reason: stored, Answer: []byte(stored + "\xff")}
	_, err = store.RecordAttempt(tx, d.ID, a, []time.Duration{time.Minute})
	return err
}

// arrangeOther gives org_other what there is one of in org_acme.
func (s *attacker) arrangeOther(tx store.Tx) error {
	d, err := store.SendTest(tx, "org_other", "whe_other")
	if err != nil {
		return err
	}
	s.theirs, s.theirEvent = d.ID, d.EventID
	_, err = store.ImportKey(tx, store.APIKey{ID: "key_other", OrgID: "org_other", Scopes: store.ScopeRead, CreatedBy: "usr_olga"})
	return err
}
