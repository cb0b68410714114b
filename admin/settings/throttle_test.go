package settings

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// from is a sign-in that comes from a client's address, as the public API hands
// it on.
func (w *env) from(client, name, password string) *httptest.ResponseRecorder {
	w.Helper()
	body := url.Values{"name": {name}, "password": {password}}.Encode()
	r := httptest.NewRequest(http.MethodPost, w.server.URL+Path+"/sign-in", strings.NewReader(body))
	r.RemoteAddr = client
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	rec := httptest.NewRecorder()
	w.server.Config.Handler.ServeHTTP(rec, r)
	return rec
}

// try makes n tries with a wrong password, which are counted and answered with 401.
func (w *env) try(n int, client, name string) {
	w.Helper()
	for i := range n {
		if got := w.from(client, name, "wrong").Code; got != 401 {
			w.Fatalf("try %d with %s: %d", i, name, got)
		}
	}
}

func TestThrottleOfOneClient(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	for _, name := range []string{"usr_ada", "usr_none"} {
		w.try(10, "192.0.2.1:1", name)
	}
	for _, name := range []string{"usr_ada", "usr_none", "USR_ADA"} { // it does not tell which of them exists
		rec := w.from("192.0.2.1:2", name, goodPassword)
		after, err := strconv.Atoi(rec.Header().Get("Retry-After"))
		if rec.Code != 429 || err != nil || after < 1 || after > 900 || !strings.Contains(rec.Body.String(), "Try again at 12:1") {
			t.Errorf("%s: %d, Retry-After %v\n%s", name, rec.Code, after, rec.Body)
		}
	}
	if got := w.from("198.51.100.7:1", "usr_ada", goodPassword).Code; got != 303 {
		t.Errorf("the owner of the account is kept out by another client: %d", got)
	}
	for passed, want := range []int{429, 303} {
		w.Advance([]time.Duration{15*time.Minute - time.Millisecond, time.Millisecond}[passed])
		if got := w.from("192.0.2.1:1", "usr_ada", goodPassword).Code; got != want {
			t.Errorf("after the window, or just before it: %d, not %d", got, want)
		}
	}
}

// A sign-in name is slowed down as an address is, whatever its case, and whether it is
// anybody's or not.
func TestThrottleOfSignInNames(t *testing.T) {
	w := newEnv(t)
	w.Update(func(tx store.Tx) error {
		_, err := store.LinkToShow(tx, "org_other", "usr_olga", "Olga.O", time.Hour)
		return err
	})
	var said []string
	for _, name := range []string{"olga.o", "olga@other.example", "no.body", "nobody@other.example"} {
		w.try(10, "192.0.2.1:1", name)
		rec := w.from("192.0.2.1:2", strings.ToUpper(name), goodPassword)
		if rec.Code != 429 {
			t.Errorf("%s: %d", name, rec.Code)
		}
		said = append(said, strings.ReplaceAll(rec.Body.String(), strings.ToUpper(name), "NAME"))
	}
	if len(slices.Compact(said)) > 1 {
		t.Errorf("they are told apart: %q", said)
	}
}

// Many clients that guess together, and one client that guesses many names, come
// to an end too.
func TestThrottleOfManyTogether(t *testing.T) {
	w := newEnv(t)
	for i := range 49 {
		w.try(1, "198.51.100."+strconv.Itoa(i)+":1", "usr_ada")
	}
	for i, want := range []int{401, 429} {
		if got := w.from("192.0.2."+strconv.Itoa(i)+":1", "usr_ada", "wrong").Code; got != want {
			t.Errorf("a try with a name: %d, want %d", got, want)
		}
	}
	for i := range 49 {
		w.try(1, "[2001:db8::1]:1", "someone"+strconv.Itoa(i))
	}
	for i, want := range []int{401, 429} {
		if got := w.from("[2001:db8::"+strconv.Itoa(i+2)+"]:1", "name"+strconv.Itoa(i), "wrong").Code; got != want {
			t.Errorf("a try from a network: %d, want %d", got, want)
		}
	}
}

// Many at once are counted before any of them is answered.
func TestThrottleOfTriesAtOnce(t *testing.T) {
	w := newEnv(t)
	w.try(8, "192.0.2.1:1", "usr_ada")
	codes := make(chan int)
	for range 8 {
		go func() { codes <- w.from("192.0.2.1:1", "usr_ada", "wrong").Code }()
	}
	count := map[int]int{}
	for range 8 {
		count[<-codes]++
	}
	if count[401] != 2 || count[429] != 6 {
		t.Errorf("the answers were %v", count)
	}
}

func TestThrottleOfForgotten(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	for range 5 {
		w.newBrowser().post("/forgot", url.Values{"name": {"usr_ada"}}).wants(t, 200, "If there is an account")
	}
	w.backgroundDone()
	if n := len(w.mails()); n != 3 {
		t.Errorf("%d mails wait", n)
	}
	for range 50 {
		w.newBrowser().post("/forgot", nil)
	}
	r := w.newBrowser().post("/forgot", nil)
	r.wants(t, 429, "Too many attempts")
	if r.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.backgroundDone()
}
