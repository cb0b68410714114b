package settings

import (
	"testing"
)

func TestHomeAsksToSignIn(t *testing.T) {
	r := newWorld(t).newBrowser().get("")
	if r.status != 303 || r.location != "/settings/sign-in" {
		t.Errorf("got %d %s", r.status, r.location)
	}
}

func TestNoSuchPage(t *testing.T) {
	newWorld(t).signedIn("usr_ada").get("/nowhere").wants(t, 404, "There is no such page")
}
