package delivery

import (
	"container/list"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"sync"
	"time"

	"teamdata/store"
)

// maxOwnNetworks bounds the memory of networks that endpoints have for themselves.
const maxOwnNetworks = 1000

// ownNetworks are the networks of endpoints with a client certificate or a CA of their own.
// None shares a connection with another endpoint: a receiver takes who is at the other end
// for the one with the certificate.
type ownNetworks struct {
	config Config

	mu     sync.Mutex
	by     map[uint64]*list.Element // by number of endpoint
	recent list.List                // of *ownNetwork; the one that was used last comes first
}

type ownNetwork struct {
	endpoint  uint64
	options   store.SendOptions // as it was made by
	transport *http.Transport
	idle      *time.Timer // drops it when it was not used for long: the endpoint may be gone, or need none any more
}

// needsOwnNetwork reports whether an endpoint can't use the network of all.
func needsOwnNetwork(o *store.SendOptions) bool { return o.ClientCertificate != "" || o.CA != "" }

// of returns the network of an endpoint. Attempts on one that was made before its certificate
// or CA changed end there.
func (n *ownNetworks) of(e *store.Endpoint) (http.RoundTripper, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := n.by[e.Number]; at != nil {
		if own := at.Value.(*ownNetwork); own.options.SameNetwork(&e.Sending) {
			n.recent.MoveToFront(at)
			own.idle.Reset(idleTimeout)
			return own.transport, nil
		}
		n.drop(at)
	}
	transport, err := newOwnTransport(n.config, &e.Sending)
	if err != nil {
		return nil, err
	}
	if n.recent.Len() >= maxOwnNetworks {
		n.drop(n.recent.Back())
	}
	if n.by == nil {
		n.by = map[uint64]*list.Element{}
	}
	own := &ownNetwork{endpoint: e.Number, options: e.Sending, transport: transport}
	at := n.recent.PushFront(own)
	n.by[e.Number] = at
	own.idle = time.AfterFunc(idleTimeout, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.by[own.endpoint] == at {
			n.drop(at)
		}
	})
	return transport, nil
}

// drop forgets a network. Its connections are closed once no attempt uses them.
func (n *ownNetworks) drop(at *list.Element) {
	own := n.recent.Remove(at).(*ownNetwork)
	delete(n.by, own.endpoint)
	own.idle.Stop()
	own.transport.CloseIdleConnections()
}

// disconnect closes the connections that no attempt uses.
func (n *ownNetworks) disconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for at := n.recent.Front(); at != nil; at = at.Next() {
		at.Value.(*ownNetwork).transport.CloseIdleConnections()
	}
}

// What can't happen to options that the store has checked.
var (
	errClientCertificate = errors.New("the endpoint's client certificate and key can't be used; set them again")
	errCA                = errors.New("the endpoint's CA can't be used; set it again")
)

func newOwnTransport(c Config, o *store.SendOptions) (*http.Transport, error) {
	transport := newTransport(c, c.Control)
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = c.PerEndpoint, c.PerEndpoint
	config := transport.TLSClientConfig
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1) // for its one host
	if o.ClientCertificate != "" {
		pair, err := tls.X509KeyPair([]byte(o.ClientCertificate), []byte(o.ClientKey))
		if err != nil {
			return nil, errClientCertificate
		}
		// Shown to any receiver that asks for one, as other clients do: one that names
		// other authorities refuses it in its own words.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	if o.CA != "" {
		roots, err := rootsWith(c.RootCAs, o.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	return transport, nil
}

// rootsWith returns the roots, or the system's for nil, with others beside them.
func rootsWith(roots *x509.CertPool, others string) (_ *x509.CertPool, err error) {
	if roots != nil {
		roots = roots.Clone()
	} else if roots, err = x509.SystemCertPool(); err != nil { // a system without any
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(others)) {
		return nil, errCA
	}
	return roots, nil
}
