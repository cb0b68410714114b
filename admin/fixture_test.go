package admin

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// ours are the event types that whe_1 of org_acme selects.
var ours = store.BuiltInEventTypes[:6]

// fill sets up two orgs. What is asked of org_acme is found there, and not in
// org_other.
func (env *testEnv) fill(tx store.Tx) error {
	steps := []func() error{
		imports(store.ImportOrg, tx, store.Org{ID: "org_acme", Name: "Acme", CreatedAt: day(1), Subscription: store.Subscription{
			ID: "sub_1", Product: "teamdata", Plan: "business", Interval: "month", Status: "active"}}),
		imports(store.ImportOrg, tx, store.Org{ID: "org_other", Name: "Other", CreatedAt: day(1)}),
		imports(store.ImportMember, tx, store.Member{OrgID: "org_acme", ID: "mem_1", UserID: "usr_ada", Role: "owner", Name: "Ada", Email: "ada@acme.example", CreatedAt: day(1)}),
		imports(store.ImportMember, tx, store.Member{OrgID: "org_acme", ID: "mem_2", UserID: "usr_bob", Role: "member", CreatedAt: day(2)}),
		imports(store.ImportMember, tx, store.Member{OrgID: "org_other", ID: "mem_3", UserID: "usr_oto", Role: "owner", CreatedAt: day(1)}),
		imports(store.AppendAudit, tx, store.AuditEntry{OrgID: "org_acme", ID: "aud_1", ActorID: "usr_ada", Action: "org.created", CreatedAt: day(1)}),
		imports(store.ImportKey, tx, store.APIKey{OrgID: "org_acme", ID: "key_1", Name: "reader", Scopes: store.ScopeRead, CreatedBy: "usr_ada", CreatedAt: day(1), SecretHash: store.HashSecret("s3cret")}),
		func() error {
			return tx.PutKeyUse("key_1", storetest.Sample[store.KeyUse](storetest.Values{Time: day(3)}))
		},
		imports(store.ImportEndpoint, tx, store.Endpoint{OrgID: "org_acme", ID: "whe_1", URL: "https://acme.example/hook", Events: ours, CreatedAt: day(1), Secret: whsec}),
		func() error {
			_, _, err := store.RegisterEventType(tx, store.EventType{Name: "invoice.paid", Description: "An invoice was paid", Schema: []byte(invoice)})
			return err
		},
		func() error { return store.AddPlan(tx, store.Plan{Name: "pro", Features: store.FeatureAPI}) },
		func() error {
			return store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_1", Name: "CI", CreatedAt: day(1), SecretHash: store.HashSecret("t0ken")})
		},
		func() error {
			return store.ImportInstructions(tx, "org_acme", store.Instructions{Text: "Be brief.", Set: true, UpdatedAt: day(1)})
		},
		func() error {
			return tx.PutReplayJob(store.ReplayJob{OrgID: "org_acme", ID: "rpl_1", ActorID: "usr_ada", Filter: store.DeliveryFilter{Endpoint: "whe_1", State: "failed", Since: day(1)},
				State: store.ReplayRunning, Done: 1, Total: 2, CreatedAt: day(3)})
		},
		func() error {
			return tx.PutSession(store.Session{ID: "ses_1", UserID: "usr_guest", UserAgent: "Browser/1", CreatedAt: tx.Now(), LastSeenAt: tx.Now(),
				Portal: store.Portal{OrgID: "org_acme", Role: store.RoleViewer, Name: "Guest"}})
		},
		func() (err error) {
			env.delivery, err = failed(tx, "org_acme", "whe_1")
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

const (
	whsec   = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	invoice = `{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}`
)

func imports[T any](rule func(store.Tx, T) (T, error), tx store.Tx, record T) func() error {
	return func() error {
		_, err := rule(tx, record)
		return err
	}
}

// failed makes a test delivery whose only attempt failed an hour ago. The
// endpoint stays enabled: it acknowledged something since.
func failed(tx store.Tx, orgID, endpointID string) (string, error) {
	d, err := store.SendTest(tx, orgID, endpointID)
	if err != nil {
		return "", err
	}
	if err := tx.PutLastAcknowledged(d.EndpointNumber, tx.Now()); err != nil {
		return "", err
	}
	begun := tx.Now().Add(-time.Hour)
	_, err = store.RecordAttempt(tx, d.ID, store.Attempt{
		StartedAt: begun, EndedAt: begun.Add(12345 * time.Microsecond), Status: 500,
		Reason: "the receiver answered 500, and not 2xx", Answer: []byte("oops\xff"),
	}, nil)
	return d.ID, err
}

// day is the start of a day in January 2026.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

var placeholder = regexp.MustCompile(`\\{\\{(\w+)\\}\\}`)

// matches compares a text with one that holds placeholders: {{whd}} stands for
// an id with that prefix, {{secret}} and {{whsec}} for what was drawn, and {{*}}
// for anything.
func matches(text, want string) bool {
	pattern := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(want), func(m string) string {
		name := placeholder.FindStringSubmatch(m)[1]
		special := map[string]string{"secret": `[0-9A-Za-z]{49}`, "whsec": `whsec_[A-Za-z0-9+/]{43}=`}[name]
		return cmp.Or(special, name+`_[0-9A-HJKMNP-TV-Z]{26}`)
	})
	pattern = strings.ReplaceAll(pattern, `\{\{\*\}\}`, `.*`)
	return regexp.MustCompile("(?s)^" + pattern + "$").MatchString(text)
}
