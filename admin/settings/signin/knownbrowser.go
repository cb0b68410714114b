package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"teamdata/store"
)

// knownFor is how long a browser is known after it signed in to an account.
const knownFor = 365 * 24 * time.Hour

// knownCookie is the name of the cookie with which a browser shows that it signed
// in to an account before. Its value is a random text and its MAC, so it can't be
// forged and nothing has to be stored. The key of the MAC is the hash of the
// account's password, which is secret: after a change of password, no browser is
// known.
func (r *Request) knownCookie(userID string) string {
	sum := sha256.Sum256([]byte(userID))
	return r.cookiePrefix() + "-known-" + hex.EncodeToString(sum[:8])
}

func knownMAC(userID, passwordHash, random string) string {
	mac := hmac.New(sha256.New, []byte(passwordHash))
	mac.Write([]byte("known browser\x00" + userID + "\x00" + random))
	return hex.EncodeToString(mac.Sum(nil))
}

// setKnownBrowser makes the browser known. Without a password there is nothing to try.
func (r *Request) setKnownBrowser(userID, passwordHash string) {
	if passwordHash == "" {
		return
	}
	random := rand.Text()
	r.PutCookie(r.knownCookie(userID), random+"."+knownMAC(userID, passwordHash, random), "/", knownFor)
}

// knownBrowser identifies a known browser; it is empty for one that never signed
// in to the account with its current password.
func (r *Request) knownBrowser(a store.Account) string {
	value := r.CookieNamed(r.knownCookie(a.UserID))
	random, mac, _ := strings.Cut(value, ".")
	if a.PasswordHash == "" || !hmac.Equal([]byte(mac), []byte(knownMAC(a.UserID, a.PasswordHash, random))) {
		return ""
	}
	return value
}
