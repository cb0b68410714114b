package settings

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/internal/web"
)

func TestHomeAsksToSignIn(t *testing.T) {
	r := newEnv(t).newBrowser().get("")
	if r.Status != 303 || r.location() != "/settings/sign-in" {
		t.Errorf("got %d %s", r.Status, r.location())
	}
}

func TestNoSuchPage(t *testing.T) {
	newEnv(t).signedIn("usr_ada").get("/nowhere").wants(t, 404, "Page not found")
}

// A panic is a 500 that says nothing, and is in the log.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := New(newEnv(t).Store, Config{Log: zerolog.New(&log)})
	answer := httptest.NewRecorder()
	s.serve(web.Request{W: answer, HTTP: httptest.NewRequest("GET", "/settings/panic", nil)}, &route{"GET", "/panic", func(*request) error { panic("inner text") }})
	if body := answer.Body.String(); answer.Code != 500 || strings.Contains(body, "inner") || !strings.Contains(body, "Something went wrong") {
		t.Errorf("got %d %s", answer.Code, body)
	}
	if said := log.String(); !strings.Contains(said, "inner text") || !strings.Contains(said, "settings_test.go") {
		t.Error(said)
	}
}
