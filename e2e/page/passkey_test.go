package page_test

import (
	"testing"

	"teamdata/e2e/kit"
)

// A passkey is added, and opens the page without a name and a password.
func TestSettingsPasskey(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	b := openStory(t)
	b.addAuthenticator()
	b.signInFirst()
	b.fill("Passkey name", "Laptop")
	b.fill("Current password", storyPassword)
	b.follow("Add passkey")
	b.sees("The passkey was added.")
	b.signOut()
	b.open("/settings/sign-in")
	b.follow("Sign in with a passkey")
	b.sees("Overview")
	b.open("/settings/account")
	b.sees("Laptop")
}

// A browser that can't turn the server's JSON into options, nor its answer into
// JSON, has both done by the script.
func TestPasskeyInAnOlderBrowser(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	b := openStory(t)
	b.addAuthenticator()
	b.signInFirst()
	for _, name := range []string{"Laptop", "Phone"} { // the second with the first to be left out
		b.growOlder()
		b.fill("Passkey name", name)
		b.fill("Current password", storyPassword)
		if name == "Phone" {
			b.click("Add passkey")
			b.sees("This device already has a passkey for your account.")
			continue
		}
		b.follow("Add passkey")
		b.sees("The passkey was added.")
	}
	b.signOut()
	b.open("/settings/sign-in")
	b.growOlder()
	b.follow("Sign in with a passkey")
	b.sees("Overview")
	b.open("/settings/account")
	b.sees("Laptop")
}

// growOlder takes from the page what browsers have had since 2024.
func (b *tab) growOlder() {
	b.t.Helper()
	gone, _ := evaluate[bool](b, `() => {
		delete PublicKeyCredential.parseCreationOptionsFromJSON;
		delete PublicKeyCredential.parseRequestOptionsFromJSON;
		delete PublicKeyCredential.prototype.toJSON;
		return !PublicKeyCredential.parseCreationOptionsFromJSON && !PublicKeyCredential.prototype.toJSON;
	}`)
	if !gone {
		b.t.Error("the browser is as new as before")
	}
}
