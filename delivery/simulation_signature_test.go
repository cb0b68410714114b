package delivery_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// holdSignature holds a request's signatures to the secrets that its endpoint
// has, or had at most when the delivery was taken in hand.
func (w *world) holdSignature(p *parcel, h http.Header, body string) {
	unix := strconv.FormatInt(time.Now().Unix(), 10)
	if field(h, "webhook-timestamp") != unix {
		w.breaksLocked(arrival, "%s is sent at %s with the timestamp %s", p.name, unix, field(h, "webhook-timestamp"))
	}
	keys := p.to.keys
	for i := len(keys) - 1; i >= 0; i-- {
		if field(h, "webhook-signature") == keys[i].sign(p.id+"."+unix+"."+body) {
			return
		}
		if by := keys[i].by; by == nil || by.returned && by.returnedAt.Before(p.takenAt) {
			break // an older one is no excuse
		}
	}
	w.breaksLocked(arrival, "%s is signed with other secrets than those of %s", p.name, p.to.name)
}

// sign makes the signatures that are due now, the newest first.
func (k *keys) sign(text string) string {
	all := []string{sign(k.secret, text)}
	if k.old != "" && time.Now().Before(k.oldUntil) {
		all = append(all, sign(k.old, text))
	}
	return strings.Join(all, " ")
}

func sign(secret, text string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// field is a header field's value, in whichever case its name is written.
func field(h http.Header, name string) string {
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}
