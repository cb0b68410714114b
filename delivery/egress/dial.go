package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"teamdata/internal/canonical"
)

// ErrHost is the error of a host that the proxy would be given and might read as an address.
var ErrHost = errors.New("the host is an address in a form that can't be judged: write it like 192.0.2.7")

// minShare is what each of a receiver's addresses has at least, as with [net.Dialer].
const minShare = 2 * time.Second

// Dial connects to a receiver at host:port within direct's Timeout: through the proxy, or
// for exceptions by direct itself. Names are looked up by direct's Resolver, and addresses
// judged by its Control. The error is a [*Failure] if the proxy failed, an [*Answer] if it
// answered CONNECT with anything but a tunnel, or what direct would return.
func (p *Proxy) Dial(ctx context.Context, direct *net.Dialer, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if isLocalName(host) || p.except.hasName(host) {
		return direct.DialContext(ctx, network, address)
	}
	ctx, cancel := context.WithTimeout(ctx, direct.Timeout)
	defer cancel()
	defer context.AfterFunc(p.ended, cancel)()
	var ips []netip.Addr
	switch ip, err := netip.ParseAddr(host); {
	case err == nil:
		ips = []netip.Addr{ip.Unmap()}
	case !p.resolves:
		if ips, err = lookUp(ctx, direct.Resolver, host); err != nil {
			return nil, err
		}
	case isNumeric(host) || !canonical.IsName(host, "_"):
		return nil, ErrHost
	default:
		target := net.JoinHostPort(host, port)
		return p.watch(ctx, target, func(ctx context.Context) (net.Conn, error) { return p.tunnel(ctx, target) })
	}
	return p.dialAddresses(ctx, direct, ips, port)
}

func lookUp(ctx context.Context, resolver *net.Resolver, host string) ([]netip.Addr, error) {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	ips, err := resolver.LookupNetIP(ctx, "ip", host)
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return ips, err
}

// dialAddresses tries the addresses of a receiver that are exceptions, then through the proxy
// the others that pass direct's Control: it is asked for no other, by a probe neither.
func (p *Proxy) dialAddresses(ctx context.Context, direct *net.Dialer, ips []netip.Addr, port string) (conn net.Conn, err error) {
	var near, far []netip.AddrPort
	var refused error
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %q is not a number up to 65535", port)
	}
	for _, ip := range ips {
		to := netip.AddrPortFrom(ip, uint16(number))
		if p.except.hasAddress(ip) {
			near = append(near, to)
		} else if judged := judge(direct.Control, to); judged == nil {
			far = append(far, to)
		} else if refused == nil {
			refused = judged
		}
	}
	if len(near) > 0 {
		conn, err = dialEach(ctx, near, len(far), func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return direct.DialContext(ctx, "tcp", to.String())
		})
	}
	if conn != nil || len(far) == 0 {
		return conn, cmp.Or(err, refused)
	}
	return p.watch(ctx, far[0].String(), func(ctx context.Context) (net.Conn, error) {
		return dialEach(ctx, far, 0, func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return p.dialFar(ctx, to)
		})
	})
}

// dialEach tries one address after the other, before more. They share the time, so that one
// in a black hole doesn't use up that of the others. The error is that of the first, unless
// the proxy answered for another, or failed: that ends it if it isn't about one address alone.
func dialEach(ctx context.Context, to []netip.AddrPort, more int, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, error) {
	var first error
	for i, addr := range to {
		share, cancel := shareOf(ctx, len(to)-i+more)
		conn, err := dial(share, addr)
		cancel()
		if err == nil {
			return conn, nil
		}
		f, failed := errors.AsType[*Failure](err)
		if failed && (f.own == nil || f.told) || ctx.Err() != nil {
			return nil, err
		}
		if weight(err) > weight(first) {
			first = err
		}
	}
	return nil, first
}

// weight is how much an error tells of the proxy.
func weight(err error) int {
	_, answered := errors.AsType[*Answer](err)
	_, failed := errors.AsType[*Failure](err)
	switch {
	case answered: // it works
		return 3
	case failed:
		return 2
	case err != nil:
		return 1
	}
	return 0
}

// shareOf is what the next of n addresses has of ctx's time.
func shareOf(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline()
	return context.WithTimeout(ctx, max(time.Until(deadline)/time.Duration(n), minShare))
}

// judge asks a dialer's control about an address.
func judge(control func(network, address string, c syscall.RawConn) error, to netip.AddrPort) error {
	network := "tcp4"
	if to.Addr().Is6() {
		network = "tcp6"
	}
	if control == nil {
		return nil
	}
	return control(network, to.String(), nil)
}

// dialFar connects to an address through the proxy.
func (p *Proxy) dialFar(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	conn, err := p.tunnel(ctx, to.String())
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the proxy %s did not connect to %s in time", p.address, to)
	}
	return conn, err
}
