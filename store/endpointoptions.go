package store

import (
	"strings"

	"teamdata/store/rows"
)

// SendOptions are what an endpoint's owner chose of how events are sent there. The zero value
// chooses nothing.
type SendOptions struct {
	HeaderNames  []string // of the headers that each attempt carries, up to 16, as they were typed
	headerValues string   // a line for each of HeaderNames; sealed in a sealed file

	Rate        string // attempts that may begin, such as "10/s"; empty: any number; see ParseRate
	MaxInFlight int    // attempts in flight at most, 1 to 32; 0: as many as the server's cap allows

	ClientCertificate string // PEM chain that it is shown, the leaf first; empty: none
	ClientKey         string // PEM key of it; sealed in a sealed file
	CA                string // PEM certificates that may issue its certificate beside those that the server trusts; empty: none
}

func (o *SendOptions) fields(c *rows.Codec) {
	c.Texts(&o.HeaderNames)
	c.Text(&o.headerValues)
	c.Text(&o.Rate)
	c.Int(&o.MaxInFlight)
	c.Text(&o.ClientCertificate)
	c.Text(&o.ClientKey)
	c.Text(&o.CA)
}

// HeaderValues are the values of HeaderNames, in their order.
func (o *SendOptions) HeaderValues() []string {
	if len(o.HeaderNames) == 0 {
		return nil
	}
	return strings.Split(o.headerValues, "\n")
}

// SetHeaders replaces all headers. Values have no line break.
func (o *SendOptions) SetHeaders(names, values []string) {
	o.HeaderNames, o.headerValues = names, strings.Join(values, "\n")
}
