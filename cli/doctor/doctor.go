// Package doctor checks what would keep serve from working well: the data file
// and its disk, a running server, the clock, listeners, certificates, proxies,
// mail and backups. Each check adds its findings, with the fix for each problem,
// and changes nothing. It also checks whether a server is ready, for healthcheck.
//
// It may import app, which alone knows the engine of the data file, and the
// packages that understand a flag (certificates, clientaddr, mail, netguard). A
// new check is a line of checks and a method in the file of its subject; a
// threshold gets a line in limits_test.go, at the limit and beyond.
package doctor

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"teamdata/app"
)

// checkLimit is how long one check may take, with its calls to other servers.
const checkLimit = 15 * time.Second

// Config is what to check.
type Config struct {
	app.Settings
	Flags     *pflag.FlagSet // of serve, which the settings are read from
	Unknown   []error        // names in the environment that no flag has, with the fix as their hint
	Malformed []error        // values in the environment that their flags don't take
	Online    bool           // calls to other servers are asked for
	People    bool           // times are for people at a terminal, else for programs
}

// doctor is one round of checks.
type doctor struct {
	Config
	Findings
	served   bool      // a server has the data file open
	sound    bool      // the data file was read, and is
	database bool      // the data is a database, and was reached
	newest   time.Time // that the data file holds, if a server runs: if that is ahead of its clock
	now      func() time.Time
	resolver *net.Resolver
}

// check is one of the doctor's.
type check struct {
	name string
	run  func(*doctor, context.Context)
}

// checks are the doctor's, in their order: later ones know whether a server runs.
func checks(database bool) []check {
	backups := []check{{"backups", (*doctor).checkBackups}}
	data := []check{
		{"data file", (*doctor).checkData},
		{"contents", (*doctor).checkContents},
		{"seal key", (*doctor).checkSealKey},
		{"disk", (*doctor).checkDisk},
	}
	if database {
		data = []check{
			{"database", (*doctor).checkDatabase},
			{"contents", (*doctor).checkRecords},
			{"seal key", (*doctor).checkSealKey},
			{"state folder", (*doctor).checkStateDir},
		}
		backups = nil // PostgreSQL has its own
	}
	return slices.Concat([]check{
		{"settings", (*doctor).checkSettings},
		{"server", (*doctor).checkServer},
		{"Go", (*doctor).checkGo},
		{"cryptography", (*doctor).checkCryptography},
	}, data, []check{
		{"clock", (*doctor).checkClock},
		{"listen", (*doctor).checkListeners},
		{"proxies", (*doctor).checkProxies},
		{"endpoints", (*doctor).checkEndpoints},
		{"egress proxy", (*doctor).checkEgress},
		{"certificate", (*doctor).checkCertificate},
		{"CA files", (*doctor).checkAuthorities},
		{"domains", (*doctor).checkDomains},
		{"ACME", (*doctor).checkACME},
		{"mail", (*doctor).checkMail},
	}, backups)
}

// Check runs all checks and returns what they found.
func Check(ctx context.Context, c Config) *Findings {
	d := &doctor{Config: c, now: time.Now, resolver: net.DefaultResolver}
	d.run(ctx, checks(app.IsDatabase(c.Data)))
	return &d.Findings
}

// run runs checks one after the other, each within checkLimit.
func (d *doctor) run(ctx context.Context, checks []check) {
	for _, c := range checks {
		d.current = c.name
		limited, cancel := context.WithTimeout(ctx, checkLimit)
		c.run(d, limited)
		cancel()
	}
}

// when is a time in UTC, as the reader of the findings expects it.
func (d *doctor) when(t time.Time) string {
	layout := time.RFC3339
	if d.People {
		layout = "2006-01-02 15:04:05 UTC"
	}
	return t.UTC().Format(layout)
}

// checkSettings reports what serve would refuse or overlook.
func (d *doctor) checkSettings(context.Context) {
	faults := append(d.Settings.Faults(), d.Malformed...)
	for _, err := range faults {
		d.refused(err)
	}
	for _, err := range d.Unknown {
		d.warned(err)
	}
	if len(faults)+len(d.Unknown) == 0 {
		d.ok("in order")
	}
}
