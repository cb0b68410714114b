package mail

import (
	"errors"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"

	"teamdata/e2e/kit"
)

// Where FIPS 140-3 is enforced, a stronger mechanism is passed over if it takes MD5,
// and a server that offers nothing else gets no password.
func TestEnforcedFIPS(t *testing.T) {
	if !kit.EnforcesFIPS(t) {
		return
	}
	for _, test := range []struct {
		offers []string
		want   string // empty: none
	}{
		{[]string{"CRAM-MD5", sasl.Login, sasl.Plain}, sasl.Plain},
		{[]string{"CRAM-MD5", sasl.Login}, sasl.Login},
		{[]string{"CRAM-MD5", "SCRAM-SHA-1", "NTLM"}, ""},
	} {
		box := (&mailbox{mechanisms: test.offers}).open(t)
		err := newSender(t, "smtp://"+userinfo+box.addr.String()).Send(t.Context(), message())
		if test.want == "" {
			if !errors.Is(err, errNoneApproved) || Permanent(err) || !strings.Contains(err.Error(), "FIPS 140-3") {
				t.Errorf("%q: %v", test.offers, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.offers, err)
		} else if got := (<-box.received).mechanism; got != test.want {
			t.Errorf("%q: it chose %s", test.offers, got)
		}
	}
}
