package store

// FirstPull is the first number of endpoints that are pulled: their deliveries stand apart
// from those that are sent, which any number tells.
const FirstPull uint64 = 1 << 62

// IsPull reports whether the endpoint with a number is pulled.
func IsPull(number uint64) bool { return number >= FirstPull }

// Pull reports whether consumers pull from the endpoint; else its events are sent to URL.
func (e *Endpoint) Pull() bool { return IsPull(e.Number) }

// The kinds of endpoints.
const (
	KindPush = "push" // events are sent to a URL
	KindPull = "pull" // consumers pull them
)

// Kind is KindPush or KindPull.
func (e *Endpoint) Kind() string {
	if e.Pull() {
		return KindPull
	}
	return KindPush
}

// CheckKind checks the kind that somebody named for a new endpoint, with its URL. Empty is
// KindPush.
func CheckKind(kind, url string) error {
	switch {
	case kind != "" && kind != KindPush && kind != KindPull:
		return Invalid("kind", "must be push or pull")
	case kind == KindPull && url != "":
		return Invalid("url", "is not allowed on an endpoint that is pulled").Advise("leave it out, or the kind")
	case kind != KindPull && url == "":
		return Invalid("url", "is missing or empty").Advise("give one, or the kind pull")
	}
	return nil
}

// setURL gives the endpoint an address, in its canonical form; none, if it is pulled.
func (e *Endpoint) setURL(tx Tx, address string) (err error) {
	switch {
	case e.Pull() && address != "":
		return Invalid("url", "is not allowed on an endpoint that is pulled").Advise("make another one to send events to an address")
	case e.Pull():
		return nil
	}
	e.URL, err = endpointURL(address, tx.HTTPOnLoopback())
	return err
}
