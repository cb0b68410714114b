package storetest

import (
	"encoding/json"
	"strings"

	"teamdata/store"
)

// entries are an org's audit log, each entry as "action target".
func (s *subject) entries(org string) (list []string) {
	s.Helper()
	var entries []struct{ ActorID, Action, TargetID string }
	if err := json.Unmarshal([]byte("["+s.auditLog(org)+"]"), &entries); err != nil {
		s.Fatalf("audit log: %v", err)
	}
	for _, e := range entries {
		list = append(list, e.Action+" "+e.TargetID)
	}
	return list
}

// does runs a rule and holds it to its effects in acme, where entries are shown
// as "action target", and to leaving the other org as it is.
func (s *subject) does(what string, rule func(store.Tx) error, want effects) {
	s.Helper()
	others, before := s.orgDump(other), len(s.entries(acme))
	got := s.after(rule)
	got.actions = s.entries(acme)[before:]
	s.equal(what, got, want)
	s.same("the other org after "+what, s.orgDump(other), others)
}

// changesNothing runs a rule that finds all as it is to be.
func (s *subject) changesNothing(what string, rule func(store.Tx) error) {
	s.Helper()
	before := s.dump(&everyName)
	s.update(rule)
	s.same(what, s.dump(&everyName), before)
}

// orgDump shows all that there is of an org.
func (s *subject) orgDump(org string) string {
	s.Helper()
	b := new(strings.Builder)
	s.view(func(tx store.Tx) error {
		dumpOrg(b, tx, &everyName, org)
		return nil
	})
	return b.String()
}

// second drops a rule's result.
func second[T any](_ T, err error) error { return err }
