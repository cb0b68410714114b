package doctor

import (
	"context"
	"crypto/fips140"
)

// FIPS is how this process uses Go's FIPS 140-3 module, in the words of
// GODEBUG=fips140: off, on or only.
func FIPS() string {
	switch {
	case fips140.Enforced():
		return "only"
	case fips140.Enabled():
		return "on"
	}
	return "off"
}

// checkCryptography reports the mode of this process, which is that of a server
// with the same environment.
func (d *doctor) checkCryptography(context.Context) {
	if FIPS() == "off" {
		d.ok("FIPS 140-3: off")
		return
	}
	d.ok("FIPS 140-3: %s, by the module %s", FIPS(), fips140.Version())
}
