package pgstore

import (
	"fmt"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// Where FIPS 140-3 is enforced, a server that wants the password's MD5 is refused with
// what to do about it. (The driver's MD5 would end the program.) SCRAM works as ever.
func TestEnforcedFIPS(t *testing.T) {
	enforced := kit.EnforcesFIPS(t)
	server := postgres.Start(t)
	database := server.TCP(postgres.Name(t, server.Database(t))) + "?sslmode=disable"
	dialed(t, database)
	server.Exec(t, `DO $$ BEGIN
		EXECUTE format('COPY (VALUES (''local all all trust''), (''host all all all md5'')) TO %L', current_setting('hba_file'));
	END $$; SET password_encryption = md5; `+fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", postgres.Owner, postgres.Password))
	server.Restart(t, "fast")
	if enforced {
		refused(t, database, "asks for the password's MD5", "scram-sha-256")
	} else {
		dialed(t, database)
	}
}
