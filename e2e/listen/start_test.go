package listen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/internal/localca"
)

// What keeps it from starting is one clear line, and a line with what to do. It ends with 2
// if only another command line helps, as serve does.
func TestCannotListen(t *testing.T) {
	folder := t.TempDir()
	taken := kit.Loopback(t)
	text, bad := filepath.Join(folder, "text"), filepath.Join(folder, "bad", "ca.key.pem")
	kit.WriteFile(t, text, hookSecret+"\nwhsec_s3cret\n")
	kit.Must(t, os.Mkdir(filepath.Dir(bad), 0o700))
	kit.WriteFile(t, bad, "no key")
	ahead := filepath.Join(folder, "ahead", "ca.key.pem")
	kit.Must(t, os.Mkdir(filepath.Dir(ahead), 0o700))
	ca, err := localca.NewCA(time.Now().AddDate(1, 0, 0), "listen")
	kit.Must(t, err)
	kit.WriteFile(t, ahead, string(ca.PEM()))
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"bad address":         {[]string{"--listen", "here"}, "is not host:port, such as 127.0.0.1:9000"},
		"informational":       {[]string{"--status", "199"}, "--status must be 200 to 599"},
		"no status":           {[]string{"--status", "600"}, "--status must be 200 to 599"},
		"bad delay":           {[]string{"--delay", "-1s"}, "--delay must be 0s to 10m"},
		"long delay":          {[]string{"--delay", "1h"}, "--delay must be 0s to 10m"},
		"bad forward":         {[]string{"--forward", "localhost:3000"}, "--forward: .* such as http://127.0.0.1:3000/hook"},
		"two answers":         {[]string{"--forward", "http://127.0.0.1:3000", "--status", "204"}, "leave one out"},
		"bad count":           {[]string{"--count", "-1"}, "--count must be 0"},
		"count of nothing":    {[]string{"--count", "1"}, "no secret to verify them with; give one with --secret-file"},
		"timeout of nothing":  {[]string{"--timeout", "1s"}, "--count 3 --timeout 1m"},
		"no secret file":      {[]string{"--secret-file", "nowhere"}, "--secret-file: open nowhere: .*; give the path"},
		"bad secret":          {[]string{"--secret-file", text}, "secret 2 is not whsec_"},
		"empty secret":        {[]string{"--secret-file", os.DevNull}, "contains no secret; write the endpoint's secret into it"},
		"certificate alone":   {[]string{"--tls-cert", text}, "go together"},
		"bad certificate":     {[]string{"--tls-cert", text, "--tls-key", text}, "give PEM files"},
		"TLS and none":        {[]string{"--tls-dir", folder, "--http"}, "--http means no TLS"},
		"two certificates":    {[]string{"--tls-dir", folder, "--tls-cert", text, "--tls-key", text}, "leave one out"},
		"folder that is none": {[]string{"--tls-dir", text}, "--tls-dir .*not a directory"},
		"bad CA":              {[]string{"--tls-dir", filepath.Dir(bad)}, "--tls-dir .*ca.key.pem: .*; remove it"},
		"CA not valid yet":    {[]string{"--tls-dir", filepath.Dir(ahead)}, "--tls-dir .*the authority is not valid before .* the clock was ahead.*; remove the folder for a new CA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if said := program.Refused(t, 2, test.want, listenArgs(t, test.args)...); strings.Contains(said, "s3cret") {
				t.Errorf("it shows a secret: %s", said)
			}
		})
	}
	program.Refused(t, 1, "is taken by another program .* --listen", listenArgs(t, []string{"--listen", taken.Addr().String()})...)
	program.Refused(t, 1, "--ready-file: ", listenArgs(t, []string{"--http", "--ready-file", filepath.Join(folder, "no", "ready.json")})...)
	program.Refused(t, 2, "unknown flag: --secret; see teamdata listen --help", listenArgs(t, []string{"--secret", hookSecret})...)
}
