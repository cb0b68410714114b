package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func addr(text string) netip.Addr {
	if text == "" {
		return netip.Addr{}
	}
	return netip.MustParseAddr(text)
}

func proxies(t testing.TB, list ...string) Proxies {
	t.Helper()
	p, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	p := proxies(t, "10.0.0.0/8", " 192.0.2.7", "2001:db8::/32", "::ffff:198.51.100.1", "loopback")
	for text, want := range map[string]bool{
		"10.255.0.1": true, "11.0.0.1": false, "::ffff:10.0.0.1": true,
		"192.0.2.7": true, "192.0.2.8": false,
		"2001:db8::1": true, "2001:db9::1": false, "2001:db8::1%eth0": true,
		"198.51.100.1": true, "127.8.9.1": true, "::1": true, "192.168.0.1": false,
		"": true, // a peer on a Unix socket
	} {
		if got := p.Trust(addr(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"10.1.2.3", "172.31.0.1", "192.168.255.1", "fd00::1"} {
		if !proxies(t, "private").Trust(addr(text)) {
			t.Errorf("%s is not private", text)
		}
	}
	if none := proxies(t); none.Trust(addr("127.0.0.1")) {
		t.Error("without a list somebody is trusted")
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                   `"" is not a CIDR`,
		"10.0.0.0/33":        "is not a CIDR or an address; write it like",
		"localhost":          "loopback or private",
		"10.1.0.0/8":         "write 10.0.0.0/8",
		"::ffff:10.0.0.0/96": "write it as IPv4",
		"fe80::%eth0/10":     "is not a CIDR",
	} {
		if _, err := Parse([]string{"loopback", text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// header makes a header of pairs; a name may come again.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

const xff, fwd = "X-Forwarded-For", "Forwarded"

func TestClient(t *testing.T) {
	p := proxies(t, "10.0.0.0/8", "fd00::/8")
	for name, row := range map[string]struct {
		peer   string
		header http.Header
		want   string
	}{
		"direct":                  {"192.0.2.1", header(), "192.0.2.1"},
		"direct, forged":          {"192.0.2.1", header(xff, "203.0.113.9", fwd, "for=203.0.113.9"), "192.0.2.1"},
		"silent proxy":            {"10.0.0.1", header(), "10.0.0.1"},
		"one proxy":               {"10.0.0.1", header(xff, "203.0.113.9"), "203.0.113.9"},
		"proxy in IPv6":           {"::ffff:10.0.0.1", header(xff, "203.0.113.9"), "203.0.113.9"},
		"forged before the proxy": {"10.0.0.1", header(xff, "198.51.100.1, 203.0.113.9"), "203.0.113.9"},
		"two proxies":             {"10.0.0.1", header(xff, "198.51.100.1, 203.0.113.9, 10.0.0.2"), "203.0.113.9"},
		"lines are one list":      {"10.0.0.1", header(xff, "203.0.113.9", xff, "10.0.0.3,10.0.0.2"), "203.0.113.9"},
		"the last line is last":   {"10.0.0.1", header(xff, "198.51.100.1", xff, "203.0.113.9"), "203.0.113.9"},
		"trusted all the way":     {"10.0.0.1", header(xff, "10.0.0.3, 10.0.0.2"), "10.0.0.3"},
		"both say the same":       {"10.0.0.1", header(xff, "198.51.100.1, 203.0.113.9", fwd, "for=203.0.113.9"), "203.0.113.9"},
		"forged Forwarded":        {"10.0.0.1", header(xff, "203.0.113.9", fwd, "for=198.51.100.1"), "10.0.0.1"},
		"malformed Forwarded too": {"10.0.0.1", header(xff, "203.0.113.9", fwd, "for"), "10.0.0.1"},
		"malformed ends the walk": {"10.0.0.1", header(xff, "203.0.113.9, oops, 10.0.0.2"), "10.0.0.2"},
		"unknown ends the walk":   {"10.0.0.1", header(fwd, "for=203.0.113.9, for=unknown, for=10.0.0.2"), "10.0.0.2"},
		"hidden ends the walk":    {"10.0.0.1", header(fwd, "for=203.0.113.9, for=_hidden"), "10.0.0.1"},
		"no for ends the walk":    {"10.0.0.1", header(fwd, "for=203.0.113.9, proto=https"), "10.0.0.1"},
		"empty elements":          {"10.0.0.1", header(xff, "203.0.113.9, ,,"), "203.0.113.9"},
		"nothing but commas":      {"10.0.0.1", header(xff, ",,", xff, " "), "10.0.0.1"},
		"Unix socket":             {"", header(xff, "203.0.113.9"), "203.0.113.9"},
		"Unix socket, silent":     {"", header(), ""},
		"IPv6":                    {"fd00::1", header(xff, "2001:db8::7"), "2001:db8::7"},
		"zone":                    {"fd00::1%eth0", header(xff, "fe80::7%eth0"), "fe80::7"},
		"an open quote":           {"10.0.0.1", header(fwd, `for="198.51.100.1, for=203.0.113.9`), "203.0.113.9"},
		"an escaping quote":       {"10.0.0.1", header(fwd, `for="198.51.100.1\", for="203.0.113.9"`), "203.0.113.9"},
		"a comma in quotes":       {"10.0.0.1", header(fwd, `for=203.0.113.9;secret="a,\"b,c"`), "203.0.113.9"},
	} {
		if got := p.Client(addr(row.peer), row.header); got != addr(row.want) {
			t.Errorf("%s: %v, want %s", name, got, row.want)
		}
	}
}

func TestMaxHops(t *testing.T) {
	list := strings.Repeat("10.0.0.9,", maxHops-1)
	p := proxies(t, "private")
	if got := p.Client(addr("10.0.0.1"), header(xff, "203.0.113.9,"+list)); got != addr("203.0.113.9") {
		t.Errorf("the %dth hop: %v", maxHops, got)
	}
	if got := p.Client(addr("10.0.0.1"), header(xff, "203.0.113.9,10.0.0.8,"+list)); got != addr("10.0.0.8") {
		t.Errorf("one more: %v", got)
	}
}

func TestForwarded(t *testing.T) {
	for element, want := range map[string]string{
		`for=192.0.2.43`:                           "192.0.2.43",
		`For="192.0.2.43:47011"`:                   "192.0.2.43",
		`For="[2001:db8:cafe::17]:4711"`:           "2001:db8:cafe::17",
		`for="[2001:db8:cafe::17]"`:                "2001:db8:cafe::17",
		`for="192.0.2.43:_p1"`:                     "192.0.2.43",
		`for="192.0.2.4\3"`:                        "192.0.2.43",
		`for=192.0.2.60;proto=http;by=203.0.113.4`: "192.0.2.60",
		`proto="a;for=1.2.3.4" ; for=192.0.2.60;`:  "192.0.2.60",
		`for=unknown`:                              "",
		`for=_gazonk`:                              "",
		`for="_gazonk:80"`:                         "",
		`for=192.0.2.43:80`:                        "", // a colon has to be quoted
		`for=[2001:db8::1]`:                        "",
		`for="2001:db8::1"`:                        "", // without brackets its end may be a port
		`for="[192.0.2.43]"`:                       "",
		`for="[2001:db8::1"`:                       "",
		`for="[2001:db8::1]x"`:                     "",
		`for="192.0.2.43:"`:                        "",
		`for="192.0.2.43:123456"`:                  "",
		`for="192.0.2.43:_"`:                       "",
		`for=""`:                                   "",
		`for=`:                                     "",
		`for = 192.0.2.43`:                         "",
		`for="192.0.2.43`:                          "",
		`for="192.0.2.43\`:                         "",
		`for=192.0.2.43 x`:                         "",
		`for=192.0.2.43;for=192.0.2.44`:            "",
		`for=192.0.2.43;x`:                         "",
		`=192.0.2.43`:                              "",
		`192.0.2.43`:                               "",
	} {
		if got := forwarded(element); got != addr(want) {
			t.Errorf("%s: %v, want %s", element, got, want)
		}
	}
}

func TestXForwardedFor(t *testing.T) {
	for element, want := range map[string]string{
		"192.0.2.43":        "192.0.2.43",
		"192.0.2.43:80":     "192.0.2.43",
		"2001:db8::1":       "2001:db8::1",
		"[2001:db8::1]":     "2001:db8::1",
		"[2001:db8::1]:80":  "2001:db8::1",
		"unknown":           "",
		`"192.0.2.43"`:      "",
		"192.0.2.043":       "",
		"192.0.2.43 (nice)": "",
	} {
		if got := xForwardedFor(element); got != addr(want) {
			t.Errorf("%s: %v, want %s", element, got, want)
		}
	}
}

// A direct client's headers change nothing, and behind a proxy they can't hide what
// the proxy adds, on the same line or on another.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.9", `for="`, `for=\"`, `for="a\`, `,"`, "10.0.0.2,", `"\",`, "for=unknown", "[", strings.Repeat(`\"`, 100)} {
		f.Add(seed)
	}
	p, seen := proxies(f, "private"), addr("2001:db8::1")
	const byProxy, byProxyX = `for="[2001:db8::1]:80";proto=https`, "2001:db8::1"
	f.Fuzz(func(t *testing.T, wrote string) {
		direct := addr("192.0.2.1")
		if got := p.Client(direct, header(xff, wrote, fwd, wrote)); got != direct {
			t.Errorf("direct: %v", got)
		}
		for _, h := range []http.Header{
			header(fwd, wrote+", "+byProxy), header(fwd, wrote, fwd, byProxy),
			header(xff, wrote+", "+byProxyX), header(xff, wrote, xff, byProxyX),
		} {
			if got := p.Client(addr("10.0.0.1"), h); got != seen {
				t.Errorf("%v: %v", h, got)
			}
		}
		if got := p.Client(addr("10.0.0.1"), header(fwd, wrote)); !got.IsValid() || got != plain(got) {
			t.Errorf("malformed: %v", got)
		}
	})
}

// FuzzElements compares the reading from the end with a reading from the start, on
// lists whose quotes are closed.
func FuzzElements(f *testing.F) {
	for _, seed := range []string{"", "a,b", `a="x,y",b`, `a="x\",y",b`, `a="\\",b`, ",,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		want, closed := fromStart(line)
		if !closed {
			return
		}
		var got []string
		for element := range elements([]string{line}) {
			got = append(got, element)
		}
		slices.Reverse(got)
		if want[0] == "" {
			want = want[1:] // an empty one at the start isn't even read
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	})
}

// fromStart splits a list at the commas outside of quotes, and reports whether all
// quotes are closed and nothing is escaped outside of them.
func fromStart(line string) (elements []string, closed bool) {
	start, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && !quoted:
			return nil, false
		case line[i] == '\\':
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ',' && !quoted:
			elements = append(elements, line[start:i])
			start = i + 1
		}
	}
	return append(elements, line[start:]), !quoted
}

// What is done for the longest header that the server reads.
func BenchmarkClient(b *testing.B) {
	p := proxies(b, "private")
	for name, h := range map[string]http.Header{
		"one hop":       header(xff, "203.0.113.9"),
		"64 KiB commas": header(fwd, strings.Repeat(",", 64<<10)),
		"64 KiB quotes": header(fwd, strings.Repeat(`\"`, 32<<10)),
		"64 KiB hops":   header(xff, strings.Repeat("10.0.0.1,", 7281)),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Client(addr("10.0.0.1"), h)
			}
		})
	}
}
