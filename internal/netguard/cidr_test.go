package netguard

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseCIDRs(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"10.0.0.0/8", "10.0.0.0/8"},
		{" 10.0.0.0/8 ", "10.0.0.0/8"},
		{"10.1.2.3/8", "10.0.0.0/8"},
		{"192.0.2.7", "192.0.2.7/32"},
		{"0.0.0.0/0", "0.0.0.0/0"},
		{"fd00::/8", "fd00::/8"},
		{"::1", "::1/128"},
		{"::ffff:192.0.2.7", "192.0.2.7/32"},
		{"::ffff:10.0.0.0/104", "10.0.0.0/8"},
	} {
		got, err := ParseCIDRs([]string{tt.text})
		if err != nil || got[0].String() != tt.want {
			t.Errorf("ParseCIDRs(%q) = %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
	if got, err := ParseCIDRs(nil); got != nil || err != nil {
		t.Errorf("ParseCIDRs(nil) = %v, %v, want nothing", got, err)
	}
}

func TestParseCIDRsErrors(t *testing.T) {
	const form = "write it like 10.0.0.0/8"
	for text, want := range map[string]string{
		"":              "remove the extra comma",
		"localhost":     form,
		"10.0.0.0/33":   form,
		"10.0.0/8":      form,
		"10.0.0.0-9":    form,
		"127.0.0.1:443": form,
		"[::1]":         form,
		"fe80::1%eth0":  `leave out "%eth0"`,
		"fe80::%1/64":   "names a zone",
	} {
		_, err := ParseCIDRs([]string{"10.0.0.0/8", text})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("ParseCIDRs(%q): %v, want %q and the entry in it", text, err, want)
		}
	}
}

// FuzzParseCIDRs checks that the plain form of each range is read as the same range.
func FuzzParseCIDRs(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseCIDRs([]string{text})
		if err != nil {
			return
		}
		p := got[0]
		if p != p.Masked() || p.Addr().Is4In6() && p.Bits() >= 96 {
			t.Fatalf("%q became %v, which matches nothing", text, p)
		}
		if again, err := netip.ParsePrefix(p.String()); err != nil || again != p {
			t.Fatalf("%q became %v, which reads back as %v, %v", text, p, again, err)
		}
	})
}
