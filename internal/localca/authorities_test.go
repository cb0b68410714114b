package localca

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// One authority takes over from another so that a client which reads the file
// once a year never meets a leaf that it does not trust.
func TestRotate(t *testing.T) {
	all := rotate(t, nil, epoch, true)
	first := all[0]
	end := first.NotAfter()
	if all = rotate(t, all, end.Add(-announceBefore-1), false); len(all) != 1 {
		t.Fatalf("%d authorities before their time", len(all))
	}
	all = rotate(t, all, end.Add(-announceBefore), true)
	if len(all) != 2 || all[0] != first {
		t.Fatalf("%d authorities; the first is gone: %v", len(all), all[0] != first)
	}
	second := all[1]
	for name, c := range map[string]struct {
		now    time.Time
		issuer *CA
	}{
		"announced":           {end.Add(-announceBefore), first},
		"just before a year":  {end.Add(-switchBefore - 1), first},
		"a year before":       {end.Add(-switchBefore), second},
		"at the first's end":  {end, second},
		"after the second is": {second.NotAfter().Add(day), second},
	} {
		if all.Issuer(c.now) != c.issuer {
			t.Errorf("%s: the wrong one issues", name)
		}
	}
	all = rotate(t, all, end.Add(-1), false)
	all = rotate(t, all, end, true)
	if len(all) != 1 || all[0] != second {
		t.Errorf("after the first's end there are %d", len(all))
	}
	if all = rotate(t, all, second.NotAfter(), true); len(all) != 1 || all[0] == second {
		t.Error("a machine that was off for years has no authority")
	}
}

// An authority that was made while the clock was ahead gets one beside it, and so does
// one that a clock far behind finds not valid yet. Clients go on trusting the first: once
// it is valid, it issues.
func TestNotValidYet(t *testing.T) {
	ahead := rotate(t, nil, epoch.AddDate(3, 0, 0), true)
	all := rotate(t, ahead, epoch, true)
	if len(all) != 2 || all[0] != ahead[0] || all.Issuer(epoch) != all[1] {
		t.Fatalf("there are %d, and the first issues: %t", len(all), all.Issuer(epoch) == all[0])
	}
	all = rotate(t, all, epoch.AddDate(1, 0, 0), false)
	if valid := epoch.AddDate(3, 0, 0).Add(-time.Hour); all.Issuer(valid.Add(-1)) != all[1] || all.Issuer(valid) != all[0] {
		t.Error("the first does not begin to issue when it is valid")
	}
	if back := rotate(t, rotate(t, ahead, epoch.AddDate(-40, 0, 0), true), epoch.AddDate(3, 0, 0), true); !slices.Equal(back, ahead) {
		t.Errorf("once the clock is right again there are %d", len(back))
	}
	if _, err := ahead[0].Issue(epoch, []string{"localhost"}); err == nil || !strings.Contains(err.Error(), "not valid before 2029-11-21 11:00:00") {
		t.Errorf("it issues: %v", err)
	}
}

func rotate(t *testing.T, all Authorities, now time.Time, want bool) Authorities {
	t.Helper()
	next, err := all.Rotate(now, "box")
	if changed := !slices.Equal(next, all); err != nil || changed != want || all.Due(now) != want || next.Due(now) {
		t.Fatalf("changed %v, due %v, want %v; due again %v; %v", changed, all.Due(now), want, next.Due(now), err)
	}
	return next
}

func TestParseAuthorities(t *testing.T) {
	one, two := newCA(t, epoch), newCA(t, epoch)
	for name, all := range map[string]Authorities{"one": {one}, "two": {one, two}} {
		again, err := ParseAuthorities(all.PEM())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(again) != len(all) || !bytes.Equal(again.PEM(), all.PEM()) || !bytes.Equal(again.CertificatePEM(), all.CertificatePEM()) {
			t.Errorf("%s changed on its way through PEM", name)
		}
	}
	if bytes.Contains(Authorities{one, two}.CertificatePEM(), []byte("KEY")) {
		t.Error("clients are given a key")
	}
	whole := Authorities{one, two}.PEM()
	for name, text := range map[string][]byte{
		"nothing":             nil,
		"blanks":              []byte(" \n"),
		"garbage":             []byte("garbage"),
		"garbage after":       append(one.PEM(), "garbage"...),
		"certificates alone":  Authorities{one, two}.CertificatePEM(),
		"the second is cut":   whole[:len(whole)-20],
		"a certificate after": append(one.PEM(), two.CertificatePEM()...),
	} {
		_, err := ParseAuthorities(text)
		isOneLine(t, name, err)
	}
}

func FuzzParseAuthorities(f *testing.F) {
	one, err := NewCA(epoch, "box")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(Authorities{one, one}.PEM())
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ParseAuthorities(text)
		if err != nil {
			return
		}
		if again, err := ParseAuthorities(all.PEM()); err != nil || len(again) != len(all) {
			t.Errorf("its own PEM holds %d of %d: %v", len(again), len(all), err)
		}
	})
}
