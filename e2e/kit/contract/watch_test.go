package contract_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"teamdata/e2e/kit/contract"
)

// listener is a test that hears complaints, and is ended by hand.
type listener struct {
	testing.TB
	heard []string
	end   []func()
}

func (l *listener) Errorf(format string, args ...any) {
	l.heard = append(l.heard, fmt.Sprintf(format, args...))
}
func (l *listener) Cleanup(fn func()) { l.end = append(l.end, fn) }

func TestWatch(t *testing.T) {
	l := &listener{TB: t}
	var seen contract.Exchange
	h := contract.Watch(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header()["X-Odd"] = []string{"1"}
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "short ")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		io.WriteString(w, "and stout")
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
	}), func(x contract.Exchange) []string {
		seen = x
		return []string{"it is a teapot"}
	})
	ask := func(path string) *httptest.ResponseRecorder {
		defer func() { recover() }()
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest("POST", path, strings.NewReader("tea")))
		return answer
	}
	answer := ask("/pot")
	if answer.Code != http.StatusTeapot || answer.Body.String() != "short and stout" || answer.Header()["X-Odd"] == nil {
		t.Errorf("passed on: %d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	if seen.Method != "POST" || seen.URL.Path != "/pot" || string(seen.RequestBody) != "tea" || seen.Status != http.StatusTeapot ||
		string(seen.Body) != "short and stout" || seen.Header["X-Odd"] == nil {
		t.Errorf("seen: %+v", seen)
	}
	if len(l.heard) != 1 || !strings.Contains(l.heard[0], "it is a teapot") {
		t.Errorf("heard %q", l.heard)
	}
	if ask("/broken"); len(l.heard) != 1 {
		t.Errorf("an answer that was broken off is complained of: %q", l.heard)
	}
	for _, end := range l.end {
		end()
	}
	if ask("/pot"); len(l.heard) != 1 {
		t.Errorf("after the end: %q", l.heard)
	}
}
