package settings

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// hostile are values that no form was made for. Those that want to leave their
// place in a page hold zz.
var hostile = []string{
	"", " ", "0", "-1", "99999999999999999999999", "1e309", "NaN", "\x00", "\r\n\t\v\x1b[31m", "\xff\xfe\xfd", "\u202e\ufeff\U0001f4a9",
	`<zz>`, `"zz="`, `'zz='`, `</textarea></script><zz>`, `{{.}}<zz>`, `javascript:zz`, `https://x.example/"zz="?<zz>`,
	"https://127.0.0.1:1/", "//zz.example", "../../org_other", "%00%2e%2e", "=zz()", "2026-99-99T99:99", "0001-01-01T00:00", "9999-12-31T23:59",
	"org_other", "whe_other", "usr_olga", "whsec_" + strings.Repeat("A", 5000), strings.Repeat("<zz>", 1000), strings.Repeat("\u0301", 300),
}

// escaped is what a page never holds, whatever it was sent.
var escaped = regexp.MustCompile(`<zz|["']zz=|(href|src|action)="(javascript:|//)zz`)

// Whatever a form is sent with, no answer is a fault, no page holds it unescaped,
// and nothing of another org changes.
func TestHostileForms(t *testing.T) {
	s, rnd := newAttacker(t), kit.Random(t)
	for range 5 {
		s.sendForms(rnd, func(param string) string { return s.pick(rnd, s.mine(param)) })
	}
}

// What is another org's stays as it is, by its own path and by one of the person's
// own org.
func TestFormsOfAnotherOrg(t *testing.T) {
	s, tame := newAttacker(t), rand.New(rand.NewPCG(0, 0))
	s.sendForms(tame, s.others)
	s.sendForms(tame, func(param string) string {
		if param == orgParam {
			return "org_acme"
		}
		return s.others(param)
	})
}

// sendForms sends a form to each route, with parameters of its path.
func (s *attacker) sendForms(rnd *rand.Rand, param func(name string) string) {
	s.Helper()
	for i := range routes {
		path, form := s.fill(routes[i].path, param), s.form(rnd, routes[i].path).Encode()
		if routes[i].method == http.MethodGet {
			s.throw(&routes[i], path, "?"+form, nil)
		} else {
			s.throw(&routes[i], path, "", []byte(form))
		}
	}
}

// pick is mine mostly, and else something hostile.
func (s *attacker) pick(rnd *rand.Rand, mine string) string {
	if rnd.IntN(8) > 0 {
		return mine
	}
	return hostile[rnd.IntN(len(hostile))]
}

// form is what the page at the path would send, with something hostile in some of
// its fields.
func (s *attacker) form(rnd *rand.Rand, path string) url.Values {
	form := url.Values{}
	for _, f := range s.fields[path] {
		form.Add(f.name, s.pick(rnd, f.value))
	}
	return form
}

// FuzzForms throws any body at any route.
func FuzzForms(f *testing.F) {
	s := newAttacker(f)
	for i := range routes {
		f.Add(uint(i), []byte("name=%3Czz%3E&url=https%3A%2F%2Fx.example&events=member.added&scopes=read&nonce=1"))
	}
	f.Fuzz(func(t *testing.T, i uint, body []byte) {
		s.TB = t
		rt := &routes[i%uint(len(routes))]
		s.throw(rt, s.fill(rt.path, s.mine), "", body)
	})
}
