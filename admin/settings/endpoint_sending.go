package settings

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/store"
)

// sendingForm is the part of an endpoint's form about how events are sent there. It holds
// neither the value of a header nor a key.
type sendingForm struct {
	Rate, Per   string     // attempts that may begin, as typed, and in which time: s, min or h
	MaxInFlight string     // as typed
	HeaderName  string     // of the header that is added
	Removed     url.Values // what is ticked to be removed: names of headers by removeHeader, certificateFields by removeFile
	Lost        []string   // the certificateFields of which a file was chosen

	HeaderNames []string // that the endpoint has
	Client, CA  *certificateBox
}

// MaxHeaders is how many headers an endpoint may have.
func (sendingForm) MaxHeaders() int { return store.MaxHeaders }

// The fields of the form that name what is to be removed. Headers have one of their own, since
// one may be called ca.
const removeHeader, removeFile = "removeHeader", "removeFile"

// Removes reports whether something is ticked in one of these fields.
func (s sendingForm) Removes(field, name string) bool { return slices.Contains(s.Removed[field], name) }

// rateUnits are the periods of a rate, as the form names them.
var rateUnits = []struct{ Value, Text string }{{"s", "a second"}, {"min", "a minute"}, {"h", "an hour"}}

// rateText is a rate such as 10/s in words; empty: there is none.
func rateText(rate string) string {
	n, per, _ := strings.Cut(rate, "/")
	for _, unit := range rateUnits {
		if unit.Value == per {
			return n + " " + unit.Text
		}
	}
	return ""
}

// RateText is the rate in words; empty: there is none.
func (s sendingForm) RateText() string { return rateText(s.Rate + "/" + s.Per) }

// Chosen reports whether something was typed or chosen there, or is wrong.
func (s sendingForm) Chosen(err *store.Error) bool {
	return s.Rate+s.MaxInFlight+s.HeaderName != "" || s.Lost != nil || err != nil && slices.Contains(append([]string{"rate", "maxInFlight", "headers"}, certificateFields...), err.Field)
}

// Facts reports whether viewers see something of it.
func (s sendingForm) Facts() bool {
	return s.Rate+s.MaxInFlight != "" || s.HeaderNames != nil || s.Client != nil || s.CA != nil
}

// fill fills in what the endpoint has.
func (s *sendingForm) fill(o *store.SendOptions, now time.Time) {
	s.HeaderNames = o.HeaderNames
	s.Client = certificatesOf(o.ClientCertificate, now)
	s.CA = certificatesOf(o.CA, now)
}

// fillFields fills in the fields as the endpoint has them.
func (s *sendingForm) fillFields(o *store.SendOptions) {
	if s.Rate, s.Per, _ = strings.Cut(o.Rate, "/"); o.MaxInFlight > 0 {
		s.MaxInFlight = strconv.Itoa(o.MaxInFlight)
	}
}

// sendingOfForm is the part of the form as it was sent.
func (r *request) sendingOfForm() sendingForm {
	field := func(name string) string { return strings.TrimSpace(r.Field(name)) }
	s := sendingForm{
		Rate: field("rate"), Per: r.Field("per"), MaxInFlight: field("maxInFlight"), HeaderName: field("headerName"),
		Removed: url.Values{removeHeader: r.HTTP.PostForm[removeHeader], removeFile: r.HTTP.PostForm[removeFile]},
	}
	for _, name := range certificateFields {
		if r.Field(name) != "" || slices.Contains(r.HTTP.PostForm[lostFile], name) {
			s.Lost = append(s.Lost, name)
		}
	}
	return s
}

// lostFile is what a draft has in place of each file: the name of its field.
const lostFile = "lostFile"

// FileProblem is what is wrong with a field that is a file; nil: nothing. A form that is shown
// again has lost its files, which no page can give back to a browser.
func (f *endpointForm) FileProblem(field string) *store.Error {
	switch {
	case fails(f.Err, field):
		return f.Err
	case slices.Contains(f.Sends.Lost, field):
		return store.Invalid(field, "was not kept").Advise("choose the file again")
	}
	return nil
}

// Problems are all that is wrong with the form, its error first. One that is pulled has no
// files.
func (f *endpointForm) Problems() (all []*store.Error) {
	if f.Err != nil {
		all = append(all, f.Err)
	}
	for _, field := range certificateFields {
		if e := f.FileProblem(field); e != nil && e != f.Err && !f.Pulls() {
			all = append(all, e)
		}
	}
	return all
}

// sendChange is what the form changes. An empty field of pace clears the option, an empty file
// keeps the certificate.
func (r *request) sendChange() (c store.SendChange, err error) {
	s := r.sendingOfForm()
	rate, n := s.Rate, 0
	if rate != "" {
		rate += "/" + s.Per
		if _, _, err := store.ParseRate(rate); err != nil {
			return c, store.Invalid("rate", "must be a whole number from 1 to 999,999 a second, a minute or an hour").Advise("leave it empty for no limit")
		}
	}
	if s.MaxInFlight != "" {
		if n, err = strconv.Atoi(s.MaxInFlight); err != nil || n == 0 {
			return c, store.Invalid("maxInFlight", "is not a whole number from 1 on").Advise("leave it empty for the default")
		}
	}
	c = store.SendChange{Rate: &rate, MaxInFlight: &n, Headers: map[string]*string{}}
	for _, name := range s.Removed[removeHeader] {
		c.Headers[name] = nil
	}
	switch value := strings.TrimSpace(r.Field("headerValue")); {
	case value != "" && s.HeaderName == "":
		return c, store.Invalid("headers", "has no name for the new value").Advise("enter both")
	case value == "" && s.HeaderName != "":
		return c, store.Invalid("headers", "has no value for %.80s", s.HeaderName).Advise("enter both")
	case s.HeaderName != "":
		c.Headers[s.HeaderName] = &value
	}
	for _, option := range []struct {
		name string
		to   **string
	}{{"clientCertificate", &c.ClientCertificate}, {"clientKey", &c.ClientKey}, {"ca", &c.CA}} {
		if text := r.Field(option.name); text != "" || s.Removes(removeFile, option.name) {
			*option.to = &text
		}
	}
	return c, nil
}

// setSending sets the options of a new endpoint. One that is pulled has none, whatever is in
// the fields.
func (r *request) setSending(e *store.Endpoint) error {
	if e.URL == "" {
		return nil
	}
	change, err := r.sendChange()
	if err == nil {
		e.Sending, err = e.Sending.WithChange(change)
	}
	return err
}

// certificateFields are the fields of the form that are files.
var certificateFields = []string{"clientCertificate", "clientKey", "ca"}

// certificateBox is what the page shows of certificates.
type certificateBox struct {
	Name, Issuer string // of the first
	More         int    // certificates behind it
	EndsAt       time.Time
	Days         int // until the first of them ends, rounded up; below 1: it has ended
}

// certificateWarning is how long before its end a certificate is warned of.
const certificateWarning = 14 * wholeDay

// Warns reports whether one of the certificates ends soon, or has ended.
func (c *certificateBox) Warns() bool { return c.Days <= int(certificateWarning/wholeDay) }

// Ended reports whether one of the certificates has ended.
func (c *certificateBox) Ended() bool { return c.Days < 1 }

// certificatesOf is the box of certificates in PEM; nil: there is none.
func certificatesOf(text string, now time.Time) (box *certificateBox) {
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil: // the rules have read it before
		case box == nil:
			box = &certificateBox{Name: certificateName(c), Issuer: cmp.Or(c.Issuer.CommonName, c.Issuer.String()), EndsAt: c.NotAfter}
		default:
			if box.More++; c.NotAfter.Before(box.EndsAt) {
				box.EndsAt = c.NotAfter
			}
		}
	}
	if box != nil {
		box.Days = int((box.EndsAt.Sub(now) + wholeDay - 1) / wholeDay)
	}
	return box
}

// certificateName is what people call a certificate.
func certificateName(c *x509.Certificate) string {
	if c.Subject.CommonName == "" && len(c.DNSNames) > 0 {
		return c.DNSNames[0]
	}
	return cmp.Or(c.Subject.CommonName, c.Subject.String(), "Certificate "+c.SerialNumber.Text(16))
}

// headersPage shows the values of an endpoint's headers.
type headersPage struct {
	store.Endpoint
	Headers []struct{ Name, Value string }
}

// showHeaders shows the values, which leaves an audit entry.
func (r *request) showHeaders() error {
	var p headersPage
	err := r.viewAudited(func(tx store.Tx) (err error) {
		p.Endpoint, err = store.ShowHeaders(tx, r.actor(), r.Org.ID, r.Param("endpoint"))
		return err
	})
	if err != nil {
		return err
	}
	for i, value := range p.Sending.HeaderValues() {
		p.Headers = append(p.Headers, struct{ Name, Value string }{p.Sending.HeaderNames[i], value})
	}
	return r.Render(200, "endpoint_headers", &p)
}
