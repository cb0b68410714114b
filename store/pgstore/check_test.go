package pgstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// TestCheck damages a database, each time in one way.
func TestCheck(t *testing.T) {
	t.Parallel()
	database := pgstore.WithTables(t)
	s := open(t, database, pgstore.Options{})
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
		if err := errors.Join(putSecrets(tx), tx.PutReplayJob(store.ReplayJob{ID: "rpl_1", OrgID: "org_1"})); err != nil {
			return err
		}
		_, err := store.AddMember(tx, "", store.Member{OrgID: "org_1", UserID: "usr_1", ID: "mem_1", Role: store.RoleOwner})
		return err
	}))
	kit.Must(t, s.Close())
	check(t, database)
	const replayList = "UPDATE replay_jobs SET replay_job_list = convert_to('org_1', 'UTF8') || '\\x00' || key"
	for _, c := range []struct{ damage, back, want string }{
		{"UPDATE endpoints SET endpoint_numbers = int8send(7)", "UPDATE endpoints SET endpoint_numbers = int8send(1)", `endpoints "org_1\x00whe_1": its column endpoint_numbers is not that of its record`},
		{"UPDATE members SET managers_value = 'admin'", "UPDATE members SET managers_value = 'owner'", `members "org_1\x00usr_1": its column managers_value is not that of its record`},
		{"UPDATE orgs SET value = value || '\\x00'", "UPDATE orgs SET value = substring(value FOR length(value) - 1)", `orgs "org_1": the record is damaged`},
		{"INSERT INTO removed_orgs VALUES ('org_1', '')", "DELETE FROM removed_orgs", `orgs "org_1": is removed, too`},
		{"UPDATE replay_jobs SET replay_job_list = key", replayList, `replayJobs "rpl_1": its column replay_job_list is not that of its record`},
		{"UPDATE replay_jobs SET replay_job_list = NULL", replayList, `replayJobs "rpl_1": its column replay_job_list is not that of its record`},
		{"INSERT INTO key_use VALUES ('key_1', '')", "DELETE FROM key_use", `keyUse "key_1": there is no such key`},
		{"INSERT INTO removed_endpoints SELECT endpoint_numbers, '' FROM endpoints", "DELETE FROM removed_endpoints", `endpoints "org_1" "whe_1": its number 1 is that of a removed one, too`},
		{"INSERT INTO last_acknowledged VALUES (int8send(9), 1, int8send(1))", "DELETE FROM last_acknowledged", "lastAcknowledged: there is no endpoint of the number 9"},
		{`INSERT INTO audit_log VALUES ('org_1\000\000\000\000\000\000\000\000\001a', '{')`, "DELETE FROM audit_log WHERE value = '{'", `auditLog "org_1\x00\x00\x00\x00\x00\x00\x00\x00\x01a": the item is not JSON`},
	} {
		postgres.Exec(t, database, c.damage)
		target, err := pgstore.ParseTarget(database)
		kit.Must(t, err)
		var found []string
		kit.Must(t, pgstore.Check(context.Background(), target, func(fault string) { found = append(found, fault) }))
		if !slices.Contains(found, c.want) {
			t.Errorf("%s: found is %q", c.damage, found)
		}
		postgres.Exec(t, database, c.back)
	}
	check(t, database)
}
