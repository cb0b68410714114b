package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store/boltstore"
	"teamdata/store/seal"
)

func TestServe(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	p := program.Serve(t, data, "--seed", program.Example)
	if !strings.HasPrefix(p.URL, "https://127.0.0.1:") {
		t.Errorf("the URL is %s", p.URL)
	}
	first := p.Must("GET", "/members", program.ReadKey)
	if first.Status != 200 || first.Header.Get("API-Version") != "2026-10-06" {
		t.Errorf("answered %d %v", first.Status, first.Header)
	}
	for _, file := range []string{data, p.CAFile} {
		if info, err := os.Stat(file); err != nil || file == data && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	p.StopWell()

	// The same file again: the same answers, the same CA, and no second seed.
	p = program.Serve(t, data, "--seed", program.Example)
	if again := p.Must("GET", "/members", program.ReadKey); again.Body != first.Body {
		t.Errorf("after a restart the answer is %s, it was %s", again.Body, first.Body)
	}
	if !strings.Contains(p.Out.String(), "--seed is ignored") {
		t.Errorf("nothing says that the seed is ignored:\n%s", p.Out)
	}
}

func TestServePlainHTTP(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--http", "--seed", program.Example)
	if !strings.HasPrefix(p.URL, "http://") || p.CAFile != "" {
		t.Errorf("the ready file says %s, %s", p.URL, p.CAFile)
	}
	if a := p.Must("GET", "/assistant/instructions", program.ReadKey); a.Status != 200 {
		t.Errorf("answered %d", a.Status)
	}
}

func TestRateFlags(t *testing.T) {
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example, "--key-rate", "2", "--client-rate", "4")
	var got []int
	for range 5 {
		got = append(got, p.Must("GET", "/members", program.ReadKey).Status)
	}
	if want := []int{200, 200, 429, 429, 429}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answered %v", got)
	}
	if a := p.Must("GET", "/members", "key_x.y"); a.Status != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the client's fifth request was answered %d", a.Status)
	}
}

func TestEnvironment(t *testing.T) {
	serve := func(value string, args ...string) string {
		t.Setenv("TEAMDATA_KEY_RATE", value)
		out, _ := program.Run(t, append([]string{"serve", "--listen", "nowhere"}, args...)...)
		return out
	}
	if out := serve("many"); !strings.Contains(out, "TEAMDATA_KEY_RATE in the environment") {
		t.Errorf("a bad value: %s", out)
	}
	if out := serve("-1"); !strings.Contains(out, "--key-rate must be 0") {
		t.Errorf("a value out of bounds: %s", out)
	}
	if out := serve("-1", "--key-rate", "5"); !strings.Contains(out, `"nowhere" is not host:port`) {
		t.Errorf("the flag does not win: %s", out)
	}
}

// What keeps it from starting is one clear line with what to do, and a status
// that is not 0. A wrong setting leaves no data file.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	held := filepath.Join(folder, "held.db")
	s, err := boltstore.Open(held, boltstore.Options{})
	kit.Must(t, err)
	t.Cleanup(func() { s.Close() }) // after the parallel tests below
	text := filepath.Join(folder, "text.db")
	kit.WriteFile(t, text, strings.Repeat("not a database\n", 1000))
	taken := kit.Loopback(t)
	badSeed := filepath.Join(folder, "bad.json")
	kit.WriteFile(t, badSeed, `{"orgs":[{"id":"org_a","name":"A","members":[{"userId":"u","role":""}]}]}`)

	large := filepath.Join(folder, "large.pem") // in place of a device that does not end
	kit.WriteFile(t, large, "")
	kit.Must(t, os.Truncate(large, 5<<20))

	sealed := sealedFile(t, folder)
	sealedBefore := kit.ReadText(t, sealed)
	t.Cleanup(func() { // after the parallel tests below
		if kit.ReadText(t, sealed) != sealedBefore {
			t.Error("a refused start has changed the data file")
		}
	})
	otherKey := filepath.Join(folder, "other.key")
	kit.WriteFile(t, otherKey, strings.Repeat("01", 32))

	absent := func(name string) string { return filepath.Join(folder, "absent", name) }
	// What another start may find otherwise is no error of the command line.
	serveRefuses(t, exitFailed, map[string]refusal{
		"file in use":    {[]string{"--data", held}, `in use by process \d+ .*holds the lock \(flock\)`},
		"not a database": {[]string{"--data", text}, "is not a teamdata file"},
		"port taken":     {[]string{"--listen", taken.Addr().String()}, "is taken by another program .* --listen"},

		// What may be on a disk that is not mounted yet.
		"no folder":                    {[]string{"--data", absent("x.db")}, "make it with: mkdir -p"},
		"no folder of a seed":          {[]string{"--seed", absent("seed.json")}, "--seed: open .*seed.json"},
		"no folder of a key":           {[]string{"--seal-key-file", absent("seal.key")}, "--seal-key-file: key file .*seal.key does not exist"},
		"no folder of a CA":            {[]string{"--webhook-ca", absent("ca.pem")}, "--webhook-ca: open .*ca.pem"},
		"no folder of certificate":     {[]string{"--tls-cert", absent("cert.pem"), "--tls-key", absent("key.pem")}, "--tls-cert: .*cert.pem"},
		"no folder of a logo":          {[]string{"--brand-logo", absent("logo.svg")}, "--brand-logo: open .*logo.svg"},
		"no folder of a database's CA": {[]string{"--data", "postgres://ada@db.example/data?sslrootcert=" + absent("ca.pem")}, "--data: .*ca.pem can't be read"},
	})
	serveRefuses(t, exitUsage, map[string]refusal{
		"folder":           {[]string{"--data", folder}, "is a folder"},
		"bad address":      {[]string{"--listen", "here"}, "is not host:port"},
		"no port":          {[]string{"--listen", "127.0.0.1:99999"}, `--listen "127.0.0.1:99999" has no port from 0 to 65535`},
		"no origin":        {[]string{"--public-url", "https://data.example.com/teamdata"}, "--public-url goes on after the host"},
		"parameters":       {[]string{"--data", "host=db.example password=s3cret"}, "--data is a list of parameters, such as host=…; write postgres://"},
		"libpq's alone":    {[]string{"--data", "postgres://td@db.example/td?gssencmode=require"}, "--data sets gssencmode to a value"},
		"share without %":  {[]string{"--memory-limit", "75"}, "--memory-limit \"75\" is less than the 32MiB .* such as 75%"},
		"demo with a seed": {[]string{"--demo", "--seed", badSeed}, "--demo brings its own data"},
		"no seed":          {[]string{"--seed", "nowhere.json"}, "--seed: open nowhere.json"},
		"bad seed":         {[]string{"--seed", badSeed}, `orgs\[0\]\.members\[0\]\.role: is missing or empty; nothing was imported`},
		"bad schedule":     {[]string{"--retry-schedule", "1m,0s"}, "--retry-schedule must hold times longer than 0"},
		"bad timeout":      {[]string{"--attempt-timeout", "0s"}, "--attempt-timeout must be longer than 0"},
		"bad CIDR":         {[]string{"--allow-endpoint-cidr", "10.0.0.0/99"}, "--allow-endpoint-cidr: .*10.0.0.0/99"},
		"no webhook CA":    {[]string{"--webhook-ca", "nowhere.pem"}, "--webhook-ca: open nowhere.pem"},
		"large webhook CA": {[]string{"--webhook-ca", large}, "--webhook-ca: read .*large.pem: it has more than 4 MiB"},
		"empty webhook CA": {[]string{"--webhook-ca", badSeed}, "contains no PEM certificate"},
		"no key file":      {[]string{"--seal-key-file", "nowhere.key"}, "--seal-key-file: key file nowhere.key does not exist; .*openssl rand"},
		"bad key file":     {[]string{"--seal-key-file", badSeed}, "--seal-key-file: key file .* holds .*openssl rand"},
		"sealed, no key":   {[]string{"--data", sealed}, "is sealed; give the key file .* --seal-key-file"},
		"sealed, other":    {[]string{"--data", sealed, "--seal-key-file", otherKey}, "the key file is not the one that it was sealed with"},
		"unknown flag":     {[]string{"--demoo"}, "unknown flag: --demoo; did you mean --demo\\? See teamdata serve --help"},
		"argument":         {[]string{"now"}, "takes no argument, but \"now\" is given; see teamdata serve --help"},
		"bad proxies":      {[]string{"--trusted-proxies", "10.0.0.0/99"}, "--trusted-proxies: .*10.0.0.0/99"},
		"bad mail server":  {[]string{"--smtp-url", "http://mail", "--mail-from", "a@b.example"}, "--smtp-url"},
		"no mail CA":       {[]string{"--smtp-url", "smtp://h", "--mail-from", "a@b.example", "--smtp-ca", "nowhere.pem"}, "--smtp-ca: open nowhere.pem"},
		"no certificate":   {[]string{"--tls-cert", "nowhere.pem", "--tls-key", "nowhere.key"}, "--tls-cert: .*nowhere.pem"},
	}, leftNothing)
}

// A refused seed leaves nothing, and a later one fills the file.
func TestBadSeedImportsNothing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	bad := filepath.Join(t.TempDir(), "bad.json")
	kit.WriteFile(t, bad, `{"orgs":[{"id":"org_a","name":"A"},{"id":"org_a","name":"B"}]}`)
	if out, err := program.Run(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--seed", bad); err == nil {
		t.Fatalf("it started:\n%s", out)
	}
	leftNothing(t, data)
	p := program.Serve(t, data, "--seed", program.Example)
	if a := p.Must("GET", "/members", program.ReadKey); a.Status != 200 {
		t.Errorf("answered %d %s", a.Status, a.Body)
	}
}

// A stop answers what runs, ends with status 0, and takes no more than its
// grace.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, filepath.Join(t.TempDir(), "teamdata.db"), "--seed", program.Example, "--allow-endpoint-cidr", "127.0.0.1/32")
	if a := p.Must("POST", "/webhooks/whe_hook/test", program.WriteKey); a.Status != 200 {
		t.Fatalf("answered %d %s", a.Status, a.Body)
	}
	start := time.Now()
	p.StopWell()
	if took := time.Since(start); took > app.StopGrace+2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// sealedFile makes a sealed data file.
func sealedFile(t *testing.T, folder string) (path string) {
	t.Helper()
	path = filepath.Join(folder, "sealed.db")
	sealer, err := seal.ReadKeyFile(kit.SealKey(t, folder))
	kit.Must(t, err)
	s, err := boltstore.Open(path, boltstore.Options{Sealer: sealer})
	kit.Must(t, err)
	kit.Must(t, s.Close())
	return path
}
