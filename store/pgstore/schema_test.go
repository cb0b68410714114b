package pgstore

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// steps are the migrations 1 to n of a program, of which the last lets programs from
// mayRead on read and from mayWrite on write. Each makes a table.
func steps(n, mayRead, mayWrite int) (all []migration) {
	for i := range n {
		m := migration{i + 1, 1, 1, fmt.Sprintf("CREATE TABLE step%d (n int); INSERT INTO step%[1]d VALUES (1);", i+1)}
		if i == n-1 {
			m.mayRead, m.mayWrite = mayRead, mayWrite
		}
		all = append(all, m)
	}
	return all
}

func pooled(t testing.TB, databaseURL string) *pool {
	t.Helper()
	target, err := ParseTarget(databaseURL)
	kit.Must(t, err)
	p := newPool(target, 2)
	t.Cleanup(p.close)
	return p
}

// contents are all tables with their owners, rights and columns, and the row of meta.
func contents(t testing.TB, databaseURL string) string {
	t.Helper()
	const tables = `SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, ordinal_position`
	text := fmt.Sprint(postgres.Exec(t, databaseURL, tables))
	if strings.Contains(text, "public meta program") {
		text += fmt.Sprint(postgres.Exec(t, databaseURL, "SELECT * FROM meta"))
	}
	return text
}

func TestPrepare(t *testing.T) {
	database := postgres.New(t)
	p := pooled(t, database)
	checkRefusal(t, p.prepare(t.Context(), steps(2, 1, 1), reading), "is empty", "teamdata import")
	kit.Must(t, p.prepare(t.Context(), steps(2, 1, 1), upgrading))
	made := contents(t, database)
	if !strings.Contains(made, "step2") || !strings.Contains(made, "[t teamdata 2 1 1 f ]") {
		t.Errorf("it holds %s", made)
	}
	for _, a := range []access{reading, upgrading} { // nothing is to be done
		if err := p.prepare(t.Context(), steps(2, 1, 1), a); err != nil {
			t.Error(err)
		}
	}
	checkRefusal(t, p.prepare(t.Context(), steps(3, 2, 3), reading), "has schema 2, and this teamdata needs 3", "pg_dump", "teamdata serve")
	if now := contents(t, database); now != made {
		t.Errorf("a refusal changed it to %s", now)
	}
	kit.Must(t, p.prepare(t.Context(), steps(3, 2, 3), upgrading))
	if now := contents(t, database); !strings.Contains(now, "step3") || !strings.Contains(now, "[t teamdata 3 2 3 f ]") {
		t.Errorf("it holds %s", now)
	}
}

// A database of the first step has an account before it is upgraded, and then one with a name.
func TestUpgradeOfAccounts(t *testing.T) {
	database := postgres.New(t)
	kit.Must(t, pooled(t, database).prepare(t.Context(), ownMigrations()[:1], upgrading))
	older := []byte("\x05usr_a\x0ea@acme.example") // the value ends after its address
	postgres.Exec(t, database, fmt.Sprintf(`INSERT INTO accounts VALUES ('usr_a', 'a@acme.example', 'usr_a', '\x%x')`, older))
	s := opened(t, database)
	defer s.Close()
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
		a, err := tx.AccountByEmail("A@acme.example")
		if err != nil {
			return err
		}
		a.SignInName = "Anna"
		return tx.PutAccount(a)
	}))
	kit.Must(t, s.View(bg, func(tx store.Tx) error {
		a, err := store.FindAccount(tx, "ANNA")
		if a.UserID != "usr_a" || a.Email != "a@acme.example" {
			t.Errorf("found %+v", a)
		}
		return err
	}))
}

// What may use a database that a newer program upgraded.
func TestNewerSchema(t *testing.T) {
	p := pooled(t, postgres.New(t))
	kit.Must(t, p.prepare(t.Context(), steps(5, 3, 4), upgrading))
	for number, want := range map[int]struct{ reading, upgrading string }{
		2: {"reads up to 2", "reads up to 2"},
		3: {"", "may read it and not write"},
		4: {"", ""},
	} {
		for a, want := range map[access]string{reading: want.reading, upgrading: want.upgrading} {
			err := p.prepare(t.Context(), steps(number, 1, 1), a)
			if want == "" {
				if err != nil {
					t.Errorf("%d, access %d: %v", number, a, err)
				}
				continue
			}
			checkRefusal(t, err, "has schema 5", want, "run the newer one")
		}
	}
}

// Tables from before the first step are refused, in whatever is done with them.
func TestEarlierSchema(t *testing.T) {
	later := steps(4, 1, 1)[2:]
	for number := 1; number <= 2; number++ {
		database := postgres.New(t)
		p := pooled(t, database)
		kit.Must(t, p.prepare(t.Context(), steps(number, 1, 1), upgrading))
		made := contents(t, database)
		for a := reading; a <= forTests; a++ {
			checkRefusal(t, p.prepare(t.Context(), later, a), "was made by an earlier teamdata", "migrate it to a file with that one")
		}
		target, err := ParseTarget(database)
		kit.Must(t, err)
		_, err = Open(bg, target, Options{})
		checkRefusal(t, err, "was made by an earlier teamdata")
		checkRefusal(t, Check(bg, target, nil), "was made by an earlier teamdata")
		checkRefusal(t, Read(bg, target, nil, "", nil), "was made by an earlier teamdata")
		i, err := Inspect(bg, target)
		kit.Must(t, err)
		checkRefusal(t, i.Unusable, "was made by an earlier teamdata")
		if now := contents(t, database); now != made {
			t.Errorf("a refusal changed it to %s", now)
		}
	}
	database := postgres.New(t)
	kit.Must(t, pooled(t, database).prepare(t.Context(), later, upgrading))
	if now := contents(t, database); strings.Contains(now, "step2") || !strings.Contains(now, "step3") || !strings.Contains(now, "[t teamdata 4 1 1 f ]") {
		t.Errorf("an empty one holds %s", now)
	}
}

// Several programs that start on an empty database.
func TestPrepareTogether(t *testing.T) {
	database := postgres.New(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := pooled(t, database).prepare(t.Context(), steps(3, 1, 1), upgrading); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := postgres.Exec(t, database, "SELECT count(*) FROM step3"); got[0][0] != "1" {
		t.Errorf("the last step ran %s times", got[0][0])
	}
}

// A step that fails leaves nothing of those before it.
func TestPrepareFails(t *testing.T) {
	database := postgres.New(t)
	failing := steps(3, 1, 1)
	failing[2].sql = "CREATE TABLE step3 (n int); SELECT 1/0;"
	p := pooled(t, database)
	checkRefusal(t, p.prepare(t.Context(), failing, upgrading), "division by zero")
	if got := contents(t, database); got != "[]" {
		t.Errorf("it holds %s", got)
	}
	if err := p.prepare(t.Context(), steps(3, 1, 1), upgrading); err != nil {
		t.Error(err)
	}
}

func TestPreparePooled(t *testing.T) {
	database := postgres.New(t)
	p := pooled(t, postgres.Shared(t).Pooler(t)(database))
	kit.Must(t, p.prepare(t.Context(), steps(3, 1, 1), upgrading))
}

func TestForeignTables(t *testing.T) {
	for what, sql := range map[string]string{
		"tables":           "CREATE TABLE invoices (n int)",
		"a meta of others": "CREATE TABLE meta (key text, value text)",
		"a meta like ours": "CREATE TABLE meta (program text, schema int, may_read int, may_write int); INSERT INTO meta VALUES ('other', 1, 1, 1)",
		"many":             "CREATE TABLE a (); CREATE TABLE b (); CREATE TABLE c (); CREATE TABLE d (); CREATE TABLE e ()",
	} {
		t.Run(what, func(t *testing.T) {
			database := postgres.New(t)
			postgres.Exec(t, database, sql)
			before := contents(t, database)
			p := pooled(t, database)
			for _, a := range []access{reading, upgrading} {
				checkRefusal(t, p.prepare(t.Context(), steps(1, 1, 1), a), "tables of another program in its schema public", "give an empty database")
			}
			if now := contents(t, database); now != before {
				t.Errorf("a refusal changed it to %s", now)
			}
		})
	}
}

// Tables of another schema are not in the way, and ours go where search_path says.
func TestSearchPath(t *testing.T) {
	database := postgres.New(t)
	postgres.Exec(t, database, "CREATE TABLE invoices (n int); CREATE SCHEMA ours")
	checkRefusal(t, pooled(t, database+"&search_path=missing").prepare(t.Context(), steps(1, 1, 1), upgrading), "has no schema that the role may use")
	kit.Must(t, pooled(t, database+"&search_path=ours").prepare(t.Context(), steps(1, 1, 1), upgrading))
	if got := postgres.Exec(t, database, "SELECT n FROM ours.step1"); len(got) != 1 {
		t.Errorf("the table is not in the schema")
	}
}

func TestRights(t *testing.T) {
	server := postgres.Shared(t)
	database := postgres.New(t)
	admin := server.URL("postgres", postgres.Name(t, database))
	server.Exec(t, "CREATE ROLE guest LOGIN")
	t.Cleanup(func() { postgres.Exec(t, admin, "DROP OWNED BY guest; DROP ROLE guest") })
	guest := pooled(t, server.URL("guest", postgres.Name(t, database)))
	one := steps(1, 1, 1)

	checkRefusal(t, guest.prepare(t.Context(), one, upgrading), "create tables in the schema public", "CREATE on the schema")
	postgres.Exec(t, admin, "REVOKE USAGE ON SCHEMA public FROM public")
	checkRefusal(t, guest.prepare(t.Context(), one, upgrading), "has no schema that the role may use")
	postgres.Exec(t, admin, "GRANT USAGE ON SCHEMA public TO guest")

	kit.Must(t, pooled(t, database).prepare(t.Context(), one, upgrading))
	made := contents(t, database)
	checkRefusal(t, guest.prepare(t.Context(), one, reading), "does not let the role read meta, step1")
	postgres.Exec(t, admin, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest")
	if err := guest.prepare(t.Context(), one, reading); err != nil {
		t.Error(err)
	}
	checkRefusal(t, guest.prepare(t.Context(), one, upgrading), "create tables")
	postgres.Exec(t, admin, "GRANT CREATE ON SCHEMA public TO guest; GRANT ALL ON ALL TABLES IN SCHEMA public TO guest")
	checkRefusal(t, guest.prepare(t.Context(), one, upgrading), "write and alter meta, step1", "owns the tables")
	postgres.Exec(t, admin, "GRANT "+postgres.Owner+" TO guest")
	if err := guest.prepare(t.Context(), one, upgrading); err != nil {
		t.Error(err)
	}
	if now := contents(t, database); now != made {
		t.Errorf("a refusal changed it to %s", now)
	}
}

func TestMigrationFiles(t *testing.T) {
	if _, err := readMigrations(migrations); err != nil {
		t.Error(err)
	}
	step := &fstest.MapFile{Data: []byte("-- may read: 1, may write: 1\nCREATE TABLE x ()")}
	silent := &fstest.MapFile{Data: []byte("CREATE TABLE x ()")}
	for want, files := range map[string]fstest.MapFS{
		"0002.sql is missing":        {"migrations/0001.sql": step, "migrations/0003.sql": step},
		"does not say what may read": {"migrations/0001.sql": step, "migrations/0002.sql": silent},
	} {
		if _, err := readMigrations(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
