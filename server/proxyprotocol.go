package server

import (
	"errors"
	"net"
	"time"

	"github.com/pires/go-proxyproto"
)

// proxyHeaderTimeout is how long a proxy may take for the PROXY protocol's
// header. It sends it as soon as it has connected.
const proxyHeaderTimeout = 5 * time.Second

var errNotInternet = errors.New("the PROXY header's address is not of TCP over IP")

// throughProxy is a connection that begins with a header of the PROXY protocol,
// version 1 or 2, and comes from the address that it tells. Without the header
// nothing can be read. A proxy's own connection, a health check, says LOCAL in
// it, and comes from the proxy.
func throughProxy(c net.Conn) net.Conn {
	return proxied{proxyproto.NewConn(c,
		proxyproto.WithPolicy(proxyproto.REQUIRE),
		proxyproto.SetReadHeaderTimeout(proxyHeaderTimeout),
		proxyproto.ValidateHeader(overTCP))}
}

// overTCP refuses addresses of other networks: that of a Unix socket would be
// taken for a proxy's on this machine.
func overTCP(h *proxyproto.Header) error {
	_, isTCP := h.SourceAddr.(*net.TCPAddr)
	if isTCP || h.Command.IsLocal() {
		return nil
	}
	return errNotInternet
}

type proxied struct{ *proxyproto.Conn }

// CloseWrite ends what is sent, which net/http asks for before it closes.
func (p proxied) CloseWrite() error { return closeWrite(p.Raw()) }

func closeWrite(c net.Conn) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}
