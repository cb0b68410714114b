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
	b.signInByPasskey()
}

// signInByPasskey adds a passkey, signs out, and signs in with it.
func (b *tab) signInByPasskey() {
	b.t.Helper()
	b.open("/settings/account")
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
	usePasskey(t, (*tab).growOlder)
}

// The credential of a password manager looks like the browser's, and is none to it.
func TestPasskeyOfAPasswordManager(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	usePasskey(t, (*tab).managePasskeys)
}

// usePasskey adds a passkey and signs in with it. Each page that does so is prepared.
func usePasskey(t *testing.T, prepare func(*tab)) {
	t.Helper()
	b := openStory(t)
	b.addAuthenticator()
	b.signInFirst()
	b.open("/settings/account")
	for _, name := range []string{"Laptop", "Phone"} { // the second with the first to be left out
		prepare(b)
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
	prepare(b)
	b.follow("Sign in with a passkey")
	b.sees("Overview")
	b.open("/settings/account")
	b.sees("Laptop")
}

// managePasskeys gives the page credentials as extensions make them: objects that only
// have the prototype of the browser's own, so that what it has of the browser throws.
func (b *tab) managePasskeys() {
	b.t.Helper()
	managed, _ := evaluate[bool](b, `() => {
		for (const name of ["create", "get"]) {
			const own = navigator.credentials[name].bind(navigator.credentials);
			navigator.credentials[name] = async (options) => {
				const { id, rawId, type, response: r } = await own(options);
				const response = {};
				for (const field of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
					if (r[field]) Object.defineProperty(response, field, { value: r[field] });
				}
				const made = Object.create(PublicKeyCredential.prototype);
				for (const [field, value] of Object.entries({ id, rawId, type, response, getClientExtensionResults: () => ({}) })) {
					Object.defineProperty(made, field, { value });
				}
				return made;
			};
		}
		return Object.hasOwn(navigator.credentials, "create");
	}`)
	if !managed {
		b.t.Error("the browser's own credentials are left")
	}
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
