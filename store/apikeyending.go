package store

import (
	"strconv"
	"time"

	"teamdata/store/rows"
)

// What was told of the end of a key, one after the other.
const (
	toldNothing = iota + 1
	toldTwoWeeks
	toldOneDay
	toldEnded
)

// toldBy is what is to be told of the key's end by a time.
func (k *APIKey) toldBy(now time.Time) uint8 {
	const day = 24 * time.Hour
	left := k.ExpiresAt.Sub(now)
	switch {
	case !k.RevokedAt.IsZero():
		return toldEnded
	case k.ExpiresAt.IsZero() || left > 14*day:
		return toldNothing
	case left > day:
		return toldTwoWeeks
	case left > 0:
		return toldOneDay
	}
	return toldEnded
}

// allAPIKeys lists up to limit keys of all orgs after an id, in order of id.
func (t Tx) allAPIKeys(after string, limit int) ([]APIKey, error) {
	return list(apiKeys, t, rows.ByKey, rows.After(after), limit)
}

// isUntold reports whether something is to be told of a key that expires.
func isUntold(k APIKey, now time.Time) (id string, yes bool) {
	return k.ID, k.RevokedAt.IsZero() && !k.ExpiresAt.IsZero() && k.toldBy(now) > k.Told
}

// tellOfKeys signals, and mails to their creators, which keys expire in 14 days or 1 day, and
// signals which have. Of what is to be told since the last time, the latest counts.
func (w *sweep) tellOfKeys() {
	w.each("", among(Tx.allAPIKeys, isUntold), func(tx Tx, id string) (bool, error) {
		mailed, err := tellOfKey(tx, id)
		w.mailed = w.mailed || mailed
		return false, err
	})
}

func tellOfKey(tx Tx, id string) (mailed bool, err error) {
	k, err := tx.APIKey(id)
	if err != nil {
		return false, unlessNotFound(err)
	}
	if _, untold := isUntold(k, tx.Now()); !untold {
		return false, nil
	}
	old := k.Told == 0
	k.Told = k.toldBy(tx.Now())
	if err := tx.PutAPIKey(k); err != nil || old {
		return false, err
	}
	org, err := tx.Org(k.OrgID)
	if err != nil {
		return false, unlessNotFound(err) // it was deleted, and the key goes with it
	}
	if k.Told == toldEnded {
		return false, signalEnded(tx, &k, "expired")
	}
	const day = 24 * time.Hour
	days := int64((k.ExpiresAt.Sub(tx.Now()) + day - 1) / day) // fewer than 14 if the server was down
	data := addNumber(jsonObject("orgId", k.OrgID, "keyId", k.ID, "name", k.Name, "expiresAt", FormatTime(k.ExpiresAt)), "days", days)
	if _, err := Emit(tx, k.OrgID, EventAPIKeyExpiring, data); err != nil {
		return false, err
	}
	creator, err := tx.Member(k.OrgID, k.CreatedBy)
	if err != nil || creator.Email == "" {
		return false, unlessNotFound(err)
	}
	return true, queueMail(tx, Mail{OrgID: k.OrgID, To: creator.Email, Name: creator.Name, Template: MailAPIKeyExpiring, Values: map[string]string{
		"orgName": org.Name, "keyId": k.ID, "keyName": k.Name, "expiresAt": FormatTime(k.ExpiresAt), "days": strconv.FormatInt(days, 10),
	}})
}

// signalEnded signals how a key ended: revoked or expired.
func signalEnded(tx Tx, k *APIKey, how string) error {
	_, err := Emit(tx, k.OrgID, EventAPIKeyEnded, jsonObject("orgId", k.OrgID, "keyId", k.ID, "name", k.Name, "how", how))
	return err
}
