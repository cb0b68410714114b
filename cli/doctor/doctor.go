// Package doctor looks for what would keep serve from working well: at the data
// file and its disk, the server that runs, the clock, listeners, certificates,
// proxies, mail and backups. Each look adds its findings, with how to mend what is
// wrong, and changes nothing.
package doctor

import (
	"context"
	"net"
	"time"

	"github.com/spf13/pflag"

	"teamdata/app"
)

// lookLimit is how long the doctor's calls to one server may take.
const lookLimit = 15 * time.Second

// Config says what to look at.
type Config struct {
	app.Settings
	Flags   *pflag.FlagSet // of serve, which the settings are read from
	Unknown []error        // names in the environment that no flag has, with the mend
	Online  bool           // calls to other servers are asked for
}

// doctor is one round of looks.
type doctor struct {
	Config
	Findings
	served   bool // a server has the data file open
	sound    bool // the data file was read, and is
	now      func() time.Time
	resolver *net.Resolver
}

// look is one of the doctor's.
type look struct {
	name string
	at   func(*doctor, context.Context)
}

// looks are the doctor's, in their order: later ones know whether a server runs.
func looks() []look {
	return []look{
		{"settings", (*doctor).lookAtSettings},
		{"server", (*doctor).lookAtServer},
		{"data file", (*doctor).lookAtData},
		{"contents", (*doctor).lookAtContents},
		{"seal key", (*doctor).lookAtSealKey},
		{"disk", (*doctor).lookAtDisk},
		{"clock", (*doctor).lookAtClock},
		{"listen", (*doctor).lookAtListeners},
		{"proxies", (*doctor).lookAtProxies},
		{"endpoints", (*doctor).lookAtEndpoints},
		{"certificate", (*doctor).lookAtCertificate},
		{"CA files", (*doctor).lookAtAuthorities},
		{"domains", (*doctor).lookAtDomains},
		{"ACME", (*doctor).lookAtACME},
		{"mail", (*doctor).lookAtMail},
		{"backups", (*doctor).lookAtBackups},
	}
}

// Look takes all looks, each within lookLimit, and tells what they found.
func Look(ctx context.Context, c Config) *Findings {
	d := &doctor{Config: c, now: time.Now, resolver: net.DefaultResolver}
	for _, l := range looks() {
		d.looked = l.name
		func() {
			ctx, cancel := context.WithTimeout(ctx, lookLimit)
			defer cancel()
			l.at(d, ctx)
		}()
	}
	return &d.Findings
}

// lookAtSettings tells what serve would refuse or overlook.
func (d *doctor) lookAtSettings(context.Context) {
	refused := d.Settings.Faults()
	for _, err := range refused {
		d.refused(err)
	}
	for _, err := range d.Unknown {
		d.warned(err)
	}
	if len(refused)+len(d.Unknown) == 0 {
		d.ok("in order")
	}
}
