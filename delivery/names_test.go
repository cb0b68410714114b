package delivery

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// names is a DNS server on loopback that a test fills. Each name has the
// addresses of its first lookup, of the second, and so on; the last ones are repeated.
// Other names do not exist.
type names struct {
	conn    net.PacketConn
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   map[string]int // how often, for each kind of address
}

// newNames takes, for each name, its addresses: with spaces between, and with
// "then" between lookups.
func newNames(t testing.TB, zone map[string]string) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, answers: make(map[string][][]netip.Addr), asked: make(map[string]int)}
	for name, text := range zone {
		for lookup := range strings.SplitSeq(text, "then") {
			var addrs []netip.Addr
			for addr := range strings.FieldsSeq(lookup) {
				addrs = append(addrs, netip.MustParseAddr(addr))
			}
			n.answers[name] = append(n.answers[name], addrs)
		}
	}
	var serving sync.WaitGroup
	serving.Go(n.serve)
	t.Cleanup(func() {
		conn.Close()
		serving.Wait()
	})
	return n
}

// resolver asks only this server.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	query := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(query)
		if err != nil {
			return
		}
		n.conn.WriteTo(n.reply(query[:size]), from)
	}
}

const (
	typeA, typeAAAA = 1, 28
	headerSize      = 12
)

// reply answers the one question of a query (RFC 1035, section 4).
func (n *names) reply(query []byte) []byte {
	var labels []string
	at := headerSize
	for query[at] != 0 {
		size := int(query[at])
		labels = append(labels, string(query[at+1:at+1+size]))
		at += 1 + size
	}
	at++
	kind := binary.BigEndian.Uint16(query[at:])
	addrs, known := n.lookUp(strings.ToLower(strings.Join(labels, ".")), kind)

	reply := append([]byte(nil), query[:at+4]...)
	binary.BigEndian.PutUint16(reply[2:], 0x8180) // an answer, of a server that asks others
	if !known {
		reply[3] |= 3 // no such name
	}
	var records []byte
	count := uint16(0)
	for _, addr := range addrs {
		if addr.Is4() != (kind == typeA) {
			continue
		}
		records = append(records, 0xc0, headerSize) // the question's name
		records = binary.BigEndian.AppendUint16(records, kind)
		records = append(records, 0, 1, 0, 0, 0, 1) // class and a TTL of one second
		records = binary.BigEndian.AppendUint16(records, uint16(addr.BitLen()/8))
		records = append(records, addr.AsSlice()...)
		count++
	}
	binary.BigEndian.PutUint16(reply[6:], count)
	binary.BigEndian.PutUint32(reply[8:], 0) // nothing besides
	return append(reply, records...)
}

// lookUp counts lookups by kind: each asks for IPv4 addresses, and for IPv6
// addresses, in any order.
func (n *names) lookUp(name string, kind uint16) (addrs []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lookups := n.answers[name]
	if len(lookups) == 0 || kind != typeA && kind != typeAAAA {
		return nil, len(lookups) > 0
	}
	key := name
	if kind == typeAAAA {
		key += " IPv6"
	}
	turn := min(n.asked[key], len(lookups)-1)
	n.asked[key]++
	return lookups[turn], true
}
