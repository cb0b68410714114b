package storetest

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// AuditLog reads an org's whole log, as JSON items.
func (s *Subject) AuditLog(orgID string) string {
	s.Helper()
	var page store.Page
	s.Read(func(tx store.Tx) (err error) {
		page, err = tx.AuditPage(orgID, store.Cursor{}, unlimited, nil)
		return err
	})
	return string(page.Items)
}

// Counts shows what an org has counted from a time on.
func (s *Subject) Counts(org string, from time.Time) (list []string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		return tx.EachDeliveryCounts(org, from, func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
			list = append(list, fmt.Sprintf("%s %d %v", hour.Format("02T15:04:05Z07"), endpoint, c))
		})
	})
	return list
}

// Claimable claims what is due of endpoint 1, and gives it back.
func (s *Subject) Claimable() (ids []string) {
	s.Helper()
	claims, err := s.Claim(context.Background(), 1, s.Clock.Now(), 1000)
	s.Code("claim", err, "")
	ids = deliveryIDs(claims)
	for _, id := range ids {
		s.Release(id)
	}
	return ids
}

// Dump shows what is committed of the names that the suite uses, and what is due.
func (s *Subject) Dump() string {
	s.Helper()
	return s.DumpAll(everyName)
}

// DumpAll shows what is committed, with what has these names, and what is due.
func (s *Subject) DumpAll(n Names) (text string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		text = dump(tx, n)
		return nil
	})
	return text + fmt.Sprintf("due: %v\n", s.Due())
}

// Due is what EachDue reports: the earliest due time of each endpoint.
func (s *Subject) Due() map[uint64]time.Time {
	due := map[uint64]time.Time{}
	err := s.EachDue(context.Background(), func(endpoint uint64, at time.Time) { due[endpoint] = at.UTC() })
	s.Code("EachDue", err, "")
	return due
}
