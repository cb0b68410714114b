package operator

import (
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// What consumers did is seen by the lists and by the delivery: who has leased it until when,
// and why it was given back.
func TestPulledIsSeen(t *testing.T) {
	s := realStore(t)
	w := newWorldOf(t, apiOf(s))
	w.must("org", "create", "--name", "Acme", "--id", "org_acme", "--quiet")
	w.must("member", "add", "usr_ada", "--role", "owner", "--quiet")
	w.must("endpoint", "create", "--pull", "--events", "member.added", "--id", "whe_pull", "--quiet")
	made := w.must("key", "create", "--scopes", "receive", "--endpoint", "whe_pull", "--created-by", "usr_ada", "--quiet")
	keyID, _, _ := strings.Cut(made, ".")
	first := strings.TrimSpace(w.must("endpoint", "test", "whe_pull", "--quiet"))
	w.must("endpoint", "test", "whe_pull", "--quiet")
	sees := func(want string, args ...string) {
		t.Helper()
		if out := w.must(args...); !regexp.MustCompile("(?m)" + want).MatchString(out) {
			t.Errorf("%q printed, without %q:\n%s", args, want, out)
		}
	}
	sees(`^waiting.pull: +2$`, "status")
	sees(`^waiting.pullAt: +20`, "status")

	var claims store.Claims
	inStore := func(fn func(tx store.Tx, k *store.APIKey) error) {
		t.Helper()
		kit.Must(t, s.Update(t.Context(), store.InOrg("org_acme"), func(tx store.Tx) error {
			k, err := store.FindKey(tx, "org_acme", keyID)
			if err != nil {
				return err
			}
			return fn(tx, &k)
		}))
	}
	inStore(func(tx store.Tx, k *store.APIKey) (err error) {
		claims, err = store.Pull(tx, "whe_pull", store.PullRequest{Key: k, Limit: 1, Lease: store.DefaultLease})
		return err
	})
	sees(`^waiting.leased: +1$`, "status")
	sees(`^DELIVERY +STATE +EVENT +STATUS +ATTEMPTS +LAST +DUE +LEASE ENDS +ENDPOINT$`, "delivery", "list")
	sees(`^`+first+` +leased +webhook.test +- +0 +- +- +20\S+Z +whe_pull$`, "delivery", "list", "--state", "leased")
	sees(`^lease.keyId: +`+keyID+`$`, "delivery", "show", first)
	sees(`^lease.endsAt: +20`, "delivery", "show", first)
	sees(`^whe_pull +pull +- +20\S+Z +- +member.added +-$`, "endpoint", "list")
	sees(`^lastPulledBy: +`+keyID+`$`, "endpoint", "show", "whe_pull")

	inStore(func(tx store.Tx, k *store.APIKey) error {
		lease := claims.Claims[0].Delivery.Lease()
		return store.NackDeliveries(tx, k, "whe_pull", []store.LeaseOf{{DeliveryID: first, Lease: lease.ID}}, "out of stock", nil, store.DefaultRetrySchedule)
	})
	sees(`^state: +retrying$`, "delivery", "show", first)
	sees(`^STARTED +MS +STATUS +KEY +NEXT +REASON +ANSWER$`, "delivery", "show", first)
	sees(`^20\S+Z +\S+ +- +`+keyID+` +20\S+Z +out of stock +-$`, "delivery", "show", first)
	if out := w.must("delivery", "show", first); strings.Contains(out, "lease.") {
		t.Errorf("it shows a lease:\n%s", out)
	}
}
