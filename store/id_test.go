package store

import (
	"regexp"
	"testing"
	"time"
)

func TestIDSourceRises(t *testing.T) {
	var ids IDSource
	at := time.UnixMilli(1_790_000_000_123)
	form := regexp.MustCompile(`^whd_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	last := ""
	for i := range 5000 {
		switch i % 50 {
		case 10:
			at = at.Add(time.Millisecond)
		case 30:
			at = at.Add(-time.Hour) // a clock that steps back
		case 31:
			at = at.Add(time.Hour)
		}
		id := ids.Next(PrefixDelivery, at)
		if !form.MatchString(id) {
			t.Fatalf("%q has not the form of a ULID", id)
		}
		if id <= last {
			t.Fatalf("%q does not follow %q", id, last)
		}
		last = id
	}
}

func TestIDSourceHoldsTheTime(t *testing.T) {
	var ids IDSource
	// 2016-07-30T23:54:10.259Z is 01ARYZ6S41 in the ULID specification.
	id := ids.Next("evt_", time.UnixMilli(1469918176385))
	if got := id[4:14]; got != "01ARYZ6S41" {
		t.Fatalf("the time part is %q", got)
	}
}

func TestIDSourceCarries(t *testing.T) {
	ids := IDSource{ms: 5, high: ^uint16(0), low: ^uint64(0)}
	before := IDSource{ms: 5, high: ^uint16(0), low: ^uint64(0) - 1}
	if a, b := before.Next("", time.UnixMilli(1)), ids.Next("", time.UnixMilli(1)); a >= b {
		t.Fatalf("%q does not follow %q", b, a)
	}
}

func TestIDSourceFollows(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	var first, second IDSource
	id := first.Next(PrefixEvent, now)
	second.Follow(id)
	second.Follow("evt_not-an-id-of-ours-at-all-____")
	second.Follow("short")
	for _, at := range []time.Time{now.Add(-time.Hour), now, now.Add(time.Second)} {
		next := second.Next(PrefixEvent, at)
		if next <= id {
			t.Fatalf("%q does not follow %q", next, id)
		}
		id = next
	}
}

// Servers that share a database follow the same ids, each for orgs of its own.
func TestIDSourcesPart(t *testing.T) {
	var all [3]IDSource
	now := time.UnixMilli(1_790_000_000_123)
	made := map[string]bool{}
	for range 100 {
		id := all[0].Next(PrefixDelivery, now)
		made[id] = true
		for i := 1; i < len(all); i++ {
			all[i].Follow(id)
			if next := all[i].Next(PrefixDelivery, now); made[next] {
				t.Fatalf("%s is made twice", next)
			} else {
				made[next] = true
			}
		}
		now = now.Add(5 * time.Millisecond)
	}
}

// Servers that follow each other again and again don't run ahead of the clock by that.
func TestIDSourcesKeepTime(t *testing.T) {
	var all [2]IDSource
	now := time.UnixMilli(1_790_000_000_123)
	last := all[0].Next(PrefixEvent, now)
	for i := range 10_000 {
		s := &all[i%len(all)]
		s.Follow(last)
		next := s.Next(PrefixEvent, now)
		if ms, _ := IDTime(next); next <= last || ms != uint64(now.UnixMilli()) {
			t.Fatalf("%s of %d follows %s", next, ms, last)
		}
		last = next
	}
}

func TestValidID(t *testing.T) {
	long := make([]byte, 64)
	for i := range long {
		long[i] = 'a'
	}
	for id, want := range map[string]bool{
		"": false, "a": true, "mem_1": true, "A-b_9": true, "a.b": false, "a b": false, "é": false, "a\x00": false,
		string(long): true, string(long) + "a": false,
	} {
		if got := ValidID(id); got != want {
			t.Errorf("ValidID(%q) = %v", id, got)
		}
	}
}
