package localca

import (
	"bytes"
	"slices"
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
