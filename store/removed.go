package store

import (
	"context"
	"time"
)

// DropRemoved drops at once what is left of removed endpoints and orgs, on a store
// that nobody waits for.
func DropRemoved(ctx context.Context, s Store) error {
	w := sweep{ctx: ctx, store: s, pace: newPace(time.Millisecond)}
	w.removed()
	return w.err
}

// removed drops what is left of removed endpoints, and then of removed orgs, one
// after the other. An org's endpoints were removed with it: once their deliveries
// are gone, no outcome of an attempt is written for it any more.
func (w *sweep) removed() {
	w.repeat("removed", dropEndpoint)
	for org := w.nextRemoved(); w.err == nil && org != ""; org = w.nextRemoved() {
		w.removedOrg(org)
	}
}

// removedOrg drops what is left of an org as long as it is removed: another sweep may
// do the same meanwhile, and once that is done a new org may have the id.
func (w *sweep) removedOrg(org string) {
	w.repeat("removed", dropEndpoint)
	for _, drop := range []func(tx Tx, orgID string, limit int) (int, error){
		dropMembers, Tx.DropAuditLog, Tx.DropDeliveryCountsOf,
	} {
		w.repeat("removed", func(tx Tx, step int) (int, error) {
			if removed, err := tx.OrgRemoved(org); !removed || err != nil {
				return 0, err
			}
			return drop(tx, org, step)
		})
	}
	each := func(kind string, find finder, drop func(tx Tx, id string) error) {
		w.each(kind, find, func(tx Tx, id string) (bool, error) {
			if removed, err := tx.OrgRemoved(org); !removed || err != nil {
				return false, err
			}
			return dropped(drop(tx, id))
		})
	}
	each("removed", among(within(org, Tx.APIKeys), func(k APIKey, _ time.Time) (string, bool) { return k.ID, true }), Tx.DeleteAPIKey)
	each("removed", among(within(org, Tx.ReplayJobs), func(j ReplayJob, _ time.Time) (string, bool) { return j.ID, true }), Tx.DeleteReplayJob)
	each("removed", among(Tx.Mails, func(m Mail, _ time.Time) (string, bool) { return m.ID, m.OrgID == org }), Tx.DeleteMail)
	each("removed", among(Tx.Sessions, func(s Session, _ time.Time) (string, bool) { return s.ID, s.Portal.OrgID == org }), Tx.DeleteSession)
	each("removed", among(Tx.SignInLinks, func(l SignInLink, _ time.Time) (string, bool) { return l.ID, l.Portal.OrgID == org }), Tx.DeleteSignInLink)
	for _, of := range []string{org, OperatorKeys(org)} {
		each("idempotency", idempotencyKeys(of), func(tx Tx, key string) error { return tx.DeleteIdempotencyRecord(of, key) })
	}
	if w.err == nil {
		w.update("removed", All, func(tx Tx, _ int) (int, error) {
			if removed, err := tx.OrgRemoved(org); !removed || err != nil {
				return 0, err
			}
			return 1, tx.ForgetOrg(org)
		})
	}
}

// nextRemoved returns a removed org, or "".
func (w *sweep) nextRemoved() (id string) {
	if w.err == nil {
		w.err = w.store.View(w.ctx, func(tx Tx) error {
			ids, err := tx.RemovedOrgs(1)
			if id = ""; len(ids) > 0 {
				id = ids[0]
			}
			return err
		})
	}
	return id
}

// dropMembers drops members of an org, and the accounts of those who may see no other.
func dropMembers(tx Tx, orgID string, limit int) (int, error) {
	_, members, err := tx.ListMembers(orgID, Cursor{}, limit)
	for _, m := range members {
		if err == nil {
			err = tx.DeleteMember(orgID, m.UserID)
		}
		if err == nil && m.MaySee() {
			err = dropAccount(tx, m.UserID)
		}
	}
	return len(members), err
}

// within is a list of an org, as [among] takes it.
func within[T any](orgID string, list func(tx Tx, orgID, after string, limit int) ([]T, error)) func(tx Tx, after string, limit int) ([]T, error) {
	return func(tx Tx, after string, limit int) ([]T, error) { return list(tx, orgID, after, limit) }
}

// keysAtOnce is how many idempotency keys of an org are found at once, at least: on a file,
// which keeps them as they came, each look goes through those of all orgs.
const keysAtOnce = 10_000

func idempotencyKeys(orgID string) finder {
	return func(tx Tx, after string, limit int) (keys []string, last string, err error) {
		return tx.IdempotencyKeys(orgID, after, max(limit, keysAtOnce))
	}
}

// dropEndpoint drops deliveries of one removed endpoint, and the endpoint with the
// last of them.
func dropEndpoint(tx Tx, step int) (int, error) {
	removed, err := tx.RemovedEndpoints(1)
	if err != nil || len(removed) == 0 {
		return 0, err
	}
	for _, list := range []DeliveryList{ListAcknowledged, ListWaiting, ListLeased, ListFailed} {
		page, _, err := tx.DeliveryPage(removed[0], list, Cursor{}, step)
		if err != nil {
			return 0, err
		}
		ids := make([]string, len(page))
		for i, d := range page {
			ids[i] = d.ID
		}
		if err := tx.ReadToDelete(ids); err != nil {
			return 0, err
		}
		for _, id := range ids {
			if err := tx.DeleteDelivery(id); err != nil {
				return 0, err
			}
		}
		if len(page) > 0 {
			return len(page), nil
		}
	}
	return 1, tx.ForgetEndpoint(removed[0])
}
