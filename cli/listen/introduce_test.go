package listen

import (
	"strings"
	"testing"

	"teamdata/delivery/receiver"
)

// The suggested command names the file of a single secret, and else a placeholder, as that
// for the org, because the endpoint would get another secret without one.
func TestEndpointCreateNamesTheSecret(t *testing.T) {
	const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	for _, test := range []struct{ file, secrets, want string }{
		{"", "", ""},
		{"hook.secret", secret, " --secret-file hook.secret"},
		{"-", secret, " --secret-file FILE"},
		{"", secret, " --secret-file FILE"},
		{"hook.secret", secret + "\n" + secret[:6] + strings.Repeat("QUJD", 10), " --secret-file FILE"},
	} {
		l := listening{settings: settings{SecretFile: test.file}}
		if test.secrets != "" {
			secrets, err := receiver.ParseSecrets(test.secrets)
			if err != nil {
				t.Fatal(err)
			}
			l.secrets = secrets
		}
		if _, got, _ := strings.Cut(l.endpointCreate("https://hook.example/"), "member.added"); got != test.want {
			t.Errorf("%q with %d secrets: %q, not %q", test.file, len(l.secrets), got, test.want)
		}
	}
}
