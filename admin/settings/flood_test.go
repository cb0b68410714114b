package settings

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// begun begins a sign-in by passkey from an address.
func (w *env) begun(client string) {
	r := httptest.NewRequest(http.MethodPost, w.server.URL+Path+"/passkeys/sign-in/begin", nil)
	r.RemoteAddr = client
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
}

// However many sign-ins are begun, from one network or from many, nobody else's is
// forgotten.
func TestBegunByMany(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	answer := d.signed(d.asked("sign-in"))
	for i := range 40 {
		for range 60 {
			w.begun(fmt.Sprintf("[2001:db8:0:%x::1]:1", i))
			w.begun(fmt.Sprintf("[2001:db8:%x::1]:1", i+1))
		}
	}
	d.finish("sign-in", answer).wants(t, 200)
}

// What all of an IPv6 /48 tries is counted together, so that alone it can't lock a
// name.
func TestThrottleOfASite(t *testing.T) {
	w := newEnv(t)
	w.withPassword("usr_ada")
	w.Advance(15 * time.Minute)
	codes := map[int]int{}
	for i := range 50 {
		codes[w.from(fmt.Sprintf("[2001:db8:0:%x::1]:1", i), "usr_ada", "wrong").Code]++
	}
	if codes[401] != 40 || codes[429] != 10 {
		t.Errorf("tries in a /48 were answered with %v", codes)
	}
	if got := w.from("[2001:db8:1::1]:1", "usr_ada", goodPassword).Code; got != 303 {
		t.Errorf("the owner, elsewhere: %d", got)
	}
}
