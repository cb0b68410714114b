package ratelimit

import (
	"math"
	"net/netip"
	"testing"
	"time"
)

func TestClientKey(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7":                 "192.0.2.7/32",
		"::ffff:192.0.2.7":          "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":       "2001:db8:1:2::/64",
		"fe80::1%eth0":              "fe80::/64",
		"::1":                       "::/64",
		"::ffff:192.0.2.7%ignored0": "192.0.2.7/32",
	} {
		if got := ClientKey(netip.MustParseAddr(addr)); got != netip.MustParsePrefix(want) {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
	if got := ClientKey(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("no address: %v", got)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int{
		math.MinInt64:      0,
		-1:                 0,
		0:                  0,
		1:                  1,
		time.Second - 1:    1,
		time.Second:        1,
		time.Second + 1:    2,
		59*time.Second + 1: 60,
		time.Minute:        60,
		math.MaxInt64:      9_223_372_037,
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%d ns: %d, want %d", d, got, want)
		}
	}
}
