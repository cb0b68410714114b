package store

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/store/rows"
)

// SendOptions are what an endpoint's owner chose of how events are sent there. The zero value
// chooses nothing.
type SendOptions struct {
	HeaderNames []string // of the headers that each attempt carries, up to 16, as they were typed, in order of their lower case
	HeaderLines string   // a line for each of HeaderNames; sealed in a sealed file

	Rate        string // attempts that may begin, such as "10/s"; empty: any number; see ParseRate
	MaxInFlight int    // attempts in flight at most, 1 to 32; 0: as many as the server's cap allows

	ClientCertificate string // PEM chain that it is shown, the leaf first; empty: none
	ClientKey         string // PEM key of it; sealed in a sealed file
	CA                string // PEM certificates that may issue its certificate beside those that the server trusts; empty: none

	CertificateEnds   time.Time // when the first of ClientCertificate that does expires; zero: there is none
	CertificateMailed bool      // whether owners were told that it expires
}

// Bounds of the options.
const (
	MaxHeaders     = 16
	maxHeaderName  = 256     // bytes
	maxHeaderValue = 1 << 10 // bytes

	MaxInFlight = 32 // attempts
)

func sendingFields(c *rows.Codec, o *SendOptions) {
	c.Texts(&o.HeaderNames)
	c.Text(&o.HeaderLines)
	c.Text(&o.Rate)
	c.Int(&o.MaxInFlight)
	c.Text(&o.ClientCertificate)
	c.Text(&o.ClientKey)
	c.Text(&o.CA)
	c.Time(&o.CertificateEnds)
	c.Flag(&o.CertificateMailed)
}

// HeaderValues are the values of HeaderNames, in their order.
func (o *SendOptions) HeaderValues() []string {
	if len(o.HeaderNames) == 0 {
		return nil
	}
	return strings.Split(o.HeaderLines, "\n")
}

// SetHeaders replaces all headers. Values have no line break.
func (o *SendOptions) SetHeaders(names, values []string) {
	o.HeaderNames, o.HeaderLines = names, strings.Join(values, "\n")
}

// Equal reports whether two endpoints are sent to in the same way.
func (o *SendOptions) Equal(other *SendOptions) bool {
	return slices.Equal(o.HeaderNames, other.HeaderNames) && o.HeaderLines == other.HeaderLines &&
		o.Rate == other.Rate && o.MaxInFlight == other.MaxInFlight && o.SameNetwork(other)
}

// SameNetwork reports whether two endpoints can share connections, as far as their options
// say.
func (o *SendOptions) SameNetwork(other *SendOptions) bool {
	return o.ClientCertificate == other.ClientCertificate && o.ClientKey == other.ClientKey && o.CA == other.CA
}

// SendChange lists the changes to SendOptions; nil leaves an option as it is, and its empty
// value clears it.
type SendChange struct {
	NoHeaders bool               // removes all headers, before it sets some
	Headers   map[string]*string // the values of those that it sets, by name; nil removes one

	Rate                             *string
	MaxInFlight                      *int
	ClientCertificate, ClientKey, CA *string // with the certificate, its key is cleared too
}

// WithChange returns the options after a change. An error names the option and what is
// wrong, and never the value of a header. What pairs of options need of each other,
// CreateEndpoint and ChangeEndpoint check.
func (o SendOptions) WithChange(c SendChange) (SendOptions, error) {
	if c.NoHeaders {
		o.SetHeaders(nil, nil)
	}
	if err := o.changeHeaders(c.Headers); err != nil {
		return o, err
	}
	replace(&o.Rate, c.Rate)
	if c.MaxInFlight != nil {
		o.MaxInFlight = *c.MaxInFlight
	}
	if c.ClientCertificate != nil && *c.ClientCertificate == "" {
		o.ClientKey = ""
	}
	replace(&o.ClientCertificate, c.ClientCertificate)
	replace(&o.ClientKey, c.ClientKey)
	replace(&o.CA, c.CA)
	return o, nil
}

// changeHeaders removes headers, then sets some. The same name in another case is the same
// header, so a change may remove one under its old name and set it under a new one.
func (o *SendOptions) changeHeaders(changes map[string]*string) error {
	if len(changes) == 0 {
		return nil
	}
	names, values := slices.Clone(o.HeaderNames), o.HeaderValues()
	for name := range changes {
		if at, found := slices.BinarySearchFunc(names, name, byLowerCase); found {
			names, values = slices.Delete(names, at, at+1), slices.Delete(values, at, at+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		value := changes[name]
		if value == nil {
			continue
		}
		if err := checkHeader(name, *value); err != nil { // before its value becomes a line
			return err
		}
		at, twice := slices.BinarySearchFunc(names, name, byLowerCase)
		if twice {
			return errHeaderTwice(name)
		}
		names, values = slices.Insert(names, at, name), slices.Insert(values, at, *value)
	}
	o.SetHeaders(names, values)
	return nil
}

func byLowerCase(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

func errHeaderTwice(name string) error {
	return Invalid("headers", "has %.80q twice, in upper and lower case", name).Advise("name each header once")
}

// checkSending checks the options as a whole, and brings certificates into the form in which
// they are stored.
func (e *Endpoint) checkSending() error {
	o := &e.Sending
	if e.Pull() {
		return o.checkNone()
	}
	err := cmp.Or(o.checkHeaders(), o.checkRate(), o.checkClientCertificate())
	if err == nil && o.CA != "" {
		o.CA, err = checkCertificates("ca", o.CA, maxCA)
	}
	return err
}

// changeSending changes the options. Those that are kept may predate a rule.
func (e *Endpoint) changeSending(tx Tx, change SendChange) (err error) {
	old := e.Sending
	if e.Sending, err = old.WithChange(change); err != nil || e.Sending.Equal(&old) {
		return err
	}
	if err := e.checkSending(); err != nil || e.Sending.ClientCertificate == old.ClientCertificate {
		return err
	}
	return e.Sending.checkNotEnded(tx.Now())
}

// checkNone refuses all options.
func (o *SendOptions) checkNone() error {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"headers", len(o.HeaderNames) > 0}, {"rate", o.Rate != ""}, {"maxInFlight", o.MaxInFlight != 0},
		{"clientCertificate", o.ClientCertificate != ""}, {"clientKey", o.ClientKey != ""}, {"ca", o.CA != ""},
	} {
		if option.set {
			return Invalid(option.name, "is not allowed on an endpoint that is pulled, since nothing is sent there").Advise("leave it out, or make another endpoint with a URL")
		}
	}
	return nil
}

func (o *SendOptions) checkHeaders() error {
	if n := len(o.HeaderNames); n > MaxHeaders {
		return Invalid("headers", "has %d headers", n).Advise("at most %d are allowed", MaxHeaders)
	}
	values := o.HeaderValues()
	for i, name := range o.HeaderNames {
		if err := checkHeader(name, values[i]); err != nil {
			return err
		}
		if i > 0 && byLowerCase(o.HeaderNames[i-1], name) == 0 {
			return errHeaderTwice(name)
		}
	}
	return nil
}

// notInHeaderName reports whether no token has the character (RFC 9110, section 5.6.2).
func notInHeaderName(r rune) bool {
	return r > '~' || r <= ' ' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
}

// checkHeader checks a header. It never quotes the value, which may be a secret.
func checkHeader(name, value string) error {
	switch reason := reservedHeader(name); {
	case name == "":
		return Invalid("headers", "has an empty name").Advise("name each header, such as X-Api-Key")
	case len(name) > maxHeaderName:
		return Invalid("headers", "has a name of %d bytes", len(name)).Advise("at most %d are allowed", maxHeaderName)
	case strings.ContainsFunc(name, notInHeaderName):
		return Invalid("headers", "has the name %.80q", name).Advise("a name is of letters, digits and - (RFC 9110), such as X-Api-Key")
	case reason != "":
		return Invalid("headers", "can't set %s: %s", name, reason).Advise("leave it out")
	case value == "":
		return Invalid("headers", "has no value for %s", name).Advise("give one, or null to remove the header")
	case len(value) > maxHeaderValue:
		return Invalid("headers", "has a value of %d bytes for %s", len(value), name).Advise("at most %d are allowed", maxHeaderValue)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return Invalid("headers", "has a character in the value of %s that is not printable ASCII", name).Advise("encode it, or leave it out")
	case strings.Trim(value, " ") != value:
		return Invalid("headers", "has a blank at an end of the value of %s", name).Advise("leave it out: receivers would not see it")
	}
	return nil
}

// reservedHeaders says of names in lower case why no endpoint can set them. One that ends in
// - stands for all that begin with it.
var reservedHeaders = []struct{ name, reason string }{
	{"webhook-", "the names webhook-* are those of the signature"},
	{"content-", "the names content-* describe the body, which is always JSON"},
	{"proxy-", "the names proxy-* are for a proxy on the way"},
	{"host", "it follows from the URL"},
	{"idempotency-key", "receivers know a repeated event by its webhook-id"},
	{"accept-encoding", "answers are read as they are"},
	{"range", "it asks for a part of an answer"},
	{"expect", "the body is sent at once"},
	{"connection", hopByHop}, {"keep-alive", hopByHop}, {"upgrade", hopByHop}, {"te", hopByHop}, {"trailer", hopByHop},
	{"transfer-encoding", hopByHop}, {"http2-settings", hopByHop},
}

const hopByHop = "it is about the connection, which the server makes"

// reservedHeader says why no endpoint can set a header; empty: it can.
func reservedHeader(name string) string {
	name = strings.ToLower(name)
	for _, r := range reservedHeaders {
		if name == r.name || strings.HasSuffix(r.name, "-") && strings.HasPrefix(name, r.name) {
			return r.reason
		}
	}
	return ""
}

func (o *SendOptions) checkRate() error {
	if o.MaxInFlight < 0 || o.MaxInFlight > MaxInFlight {
		return Invalid("maxInFlight", "is %d; a whole number from 1 to %d is expected", o.MaxInFlight, MaxInFlight)
	}
	if o.Rate == "" {
		return nil
	}
	_, _, err := ParseRate(o.Rate)
	return err
}

var ratePeriods = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}

// ParseRate reads a rate such as 10/s: n, from 1 to 999,999, in each period of a second, a
// minute or an hour. badRequest: it has another form.
func ParseRate(text string) (n int, per time.Duration, err error) {
	number, unit, _ := strings.Cut(text, "/")
	n, err = strconv.Atoi(number)
	per = ratePeriods[unit]
	if err != nil || n < 1 || n > 999_999 || strconv.Itoa(n) != number || per == 0 {
		return 0, 0, Invalid("rate", "is not a rate").Advise("write it like 10/s, 600/min or 5000/h: a number from 1 to 999999, and s, min or h")
	}
	return n, per, nil
}
