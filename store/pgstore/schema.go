package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// migrations are the steps that make and change the tables, in order of their
// numbers. The first line of each says which programs go on working with the tables
// afterwards, by the last migration that they know:
//
//	-- may read: 3, may write: 4
//
// A step first expands: it adds what is new, and programs that don't know it go on,
// also those that run meanwhile. A later one, when those are gone, drops what is old: it
// is refused while one of them runs.
//
//go:embed migrations/[0-9]*.sql
var migrations embed.FS

//go:embed migrations/meta.sql
var metaSQL string

// ownMigrations are the steps of this program, which a test has read before.
var ownMigrations = sync.OnceValue(func() []migration {
	steps, err := readMigrations(migrations)
	if err != nil {
		panic(err)
	}
	return steps
})

// migration is one step.
type migration struct {
	number, mayRead, mayWrite int
	sql                       string
}

// readMigrations reads the steps; they are numbered on from the first one, such as
// 0001.sql, without a gap. There is none that leads from earlier tables to the first.
func readMigrations(files fs.FS) (steps []migration, err error) {
	names, err := fs.Glob(files, "migrations/[0-9]*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		m := migration{sql: string(text)}
		if len(steps) > 0 {
			m.number = steps[len(steps)-1].number + 1
		} else if _, err := fmt.Sscanf(path.Base(name), "%d.sql", &m.number); err != nil {
			return nil, fmt.Errorf("%s: its name is not a number", name)
		}
		if path.Base(name) != fmt.Sprintf("%04d.sql", m.number) {
			return nil, fmt.Errorf("%s: migration %04d.sql is missing", name, m.number)
		}
		if _, err := fmt.Sscanf(m.sql, "-- may read: %d, may write: %d\n", &m.mayRead, &m.mayWrite); err != nil {
			return nil, fmt.Errorf("%s: the first line does not say what may read and write", name)
		}
		steps = append(steps, m)
	}
	return steps, nil
}

// ends are the numbers of a program's first and last migration.
func ends(steps []migration) (first, last int) {
	return steps[0].number, steps[len(steps)-1].number
}

// access is what a program is going to do with a database.
type access int

const (
	reading   access = iota // nothing is written, and no table made
	upgrading               // the tables are made in an empty database, or brought to this program's schema
	exporting               // the same, and then no record is written
	forTests                // the same as upgrading, of a database that is for tests
)

// schema is what a database says of its tables, as seen by the role.
type schema struct {
	name      string // of the PostgreSQL schema that new tables go to; empty if there is none
	mayCreate bool   // tables in it
	ours      bool
	tables    []string // in it
	unread    []string // those that the role may not read
	unwritten []string // those that it may read and not write

	number, mayRead, mayWrite int // the row of meta
	forTests                  bool
	carriedTo                 string
}

// prepare makes or upgrades the tables, as far as access allows, and checks that this
// program may use them. If it refuses, it has changed nothing. Its errors are for the
// operator.
func (p *pool) prepare(ctx context.Context, steps []migration, a access) error {
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(c)
	for began := time.Now(); ; c.rollback() {
		s, err := readUsable(ctx, c, steps, a)
		if _, last := ends(steps); err == nil && s.number < last {
			err = migrate(ctx, c, s, steps, a)
		}
		if err == nil {
			return nil
		}
		if !migratesAgain(err) || time.Since(began) > migrateTime {
			return p.target.refusal(err)
		}
		select {
		case <-ctx.Done():
			return p.target.refusal(context.Cause(ctx))
		case <-time.After(migrateAgain):
		}
	}
}

const (
	// A step that has to wait for a reader, such as pg_dump, gives up soon, since all nodes
	// wait for it, and is tried again for migrateTime.
	sqlStepLimit = "SELECT set_config('lock_timeout', '200ms', true)"
	migrateTime  = time.Minute
	migrateAgain = 500 * time.Millisecond
)

// errMade is why a program did not make the tables: another one did at the same time.
var errMade = errors.New("another program made the tables")

// migratesAgain reports whether a migration failed because of others who use the database.
func migratesAgain(err error) bool { return err == errMade || hasCode(err, "55P03") }

// migrate runs the steps that a database lacks, in one transaction. Of several
// programs that start together one does it, and the others find it done: they wait for the
// lock on meta, or for it to be made, which fails then.
func migrate(ctx context.Context, c *conn, s schema, steps []migration, a access) error {
	first := metaSQL
	if s.ours {
		first = "LOCK TABLE meta IN EXCLUSIVE MODE"
	}
	_, err := c.Exec(ctx, fmt.Sprintf("BEGIN; %s; %s", sqlLongLimits, first)).ReadAll()
	// Of a table that another transaction makes there may be its row in a catalogue, the
	// table, or its type.
	if !s.ours && hasCode(err, "23505", "42P07", "42710") {
		return errMade
	}
	if err == nil && s.ours {
		s, err = readUsable(ctx, c, steps, a)
	}
	if err != nil {
		return err
	}
	if slices.Contains(s.tables, "nodes") {
		if err := retire(ctx, c, steps[len(steps)-1]); err != nil {
			return err
		}
	}
	sql := []string{sqlStepLimit}
	for _, m := range steps {
		if m.number <= s.number {
			continue
		}
		sql = append(sql, m.sql, fmt.Sprintf("UPDATE meta SET schema = %d, may_read = %d, may_write = %d", m.number, m.mayRead, m.mayWrite))
	}
	if !s.ours && a == forTests {
		sql = append(sql, "UPDATE meta SET for_tests = true, may_write = schema") // which those who don't know of tests don't
	}
	for _, text := range append(sql, "COMMIT") {
		if _, err := c.Exec(ctx, text).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// retire sees to it that after the last step no program writes that it leaves behind.
// Those that run refuse it. Those that were not seen for too long are forgotten, so that
// they end when they come back, and none that starts meanwhile gets in: see register.
// Then nobody writes until the steps are done, so that no step meets a lock halfway.
func retire(ctx context.Context, c *conn, last migration) error {
	var there []row
	if err := c.run(ctx,
		newQuery(sqlThere+" AND schema < $1 ORDER BY state, name", last.mayWrite).collect(&there)); err != nil {
		return err
	}
	if len(there) > 0 {
		return &Error{
			Text:   fmt.Sprintf("is in use by what can't write schema %d, to which this teamdata upgrades it: %s", last.number, whoUses(there)),
			Advice: "upgrade those first, to a version that can write it, or stop them; then start this one again",
			Passes: true,
		}
	}
	return c.run(ctx, append(forgetNodes("schema < $1", last.mayWrite), query{sql: sqlStopUpdates})...)
}

// tablesQuery lists the tables of the schema that new ones go to, without those that
// belong to an extension. meta is ours by its columns.
const tablesQuery = `SELECT coalesce(current_schema(), ''), coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
	c.relname, has_table_privilege(c.oid, 'SELECT'),
	has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE') AND pg_has_role(c.relowner, 'USAGE'),
	c.relname = 'meta' AND (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('program', 'schema', 'may_read', 'may_write')) = 4
FROM (SELECT) AS always LEFT JOIN pg_class c ON c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND c.relkind IN ('r', 'p')
	AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname`

// readSchema reads what is in the database; it writes nothing and waits for no lock.
func readSchema(ctx context.Context, c *conn) (s schema, err error) {
	err = c.run(ctx, query{sql: tablesQuery, row: func(v [][]byte) error {
		s.name, s.mayCreate = string(v[0]), readBool(v[1])
		if v[2] == nil {
			return nil
		}
		name := string(v[2])
		s.tables = append(s.tables, name)
		if !readBool(v[3]) {
			s.unread = append(s.unread, name)
		} else if !readBool(v[4]) {
			s.unwritten = append(s.unwritten, name)
		}
		s.ours = s.ours || readBool(v[5])
		return nil
	}})
	if err != nil || !s.ours || slices.Contains(s.unread, "meta") {
		return s, err
	}
	s.ours = false
	err = c.run(ctx, query{sql: "SELECT schema::bigint, may_read::bigint, may_write::bigint, to_jsonb(meta)->>'for_tests', to_jsonb(meta)->>'carried_to' FROM meta WHERE program = 'teamdata'", row: func(v [][]byte) error {
		s.ours, s.forTests, s.carriedTo = true, string(v[3]) == "true", string(v[4]) // null before the step that adds them
		s.number, s.mayRead, s.mayWrite = int(readBigint(v[0])), int(readBigint(v[1])), int(readBigint(v[2]))
		return nil
	}})
	return s, err
}

// readUsable is readSchema, with the refusal of a program that knows some migrations.
func readUsable(ctx context.Context, c *conn, steps []migration, a access) (schema, error) {
	s, err := readSchema(ctx, c)
	if err == nil {
		first, last := ends(steps)
		err = s.refusal(first, last, a)
	}
	return s, err
}

// refusal is why a program that knows the migrations from first to last may not use the
// tables.
func (s schema) refusal(first, last int, a access) error {
	writes := a != reading && a != exporting
	switch {
	case s.name == "":
		return &Error{Text: "has no schema that the role may use", Advice: "create the one that its search_path names, or grant USAGE on it"}
	case !s.ours && len(s.tables) > 0:
		return &Error{Text: fmt.Sprintf("holds tables of another program in its schema %s: %s", s.name, some(s.tables)), Advice: "give an empty database in --data"}
	case s.number > 0 && s.number < first:
		return &Error{Text: "was made by an earlier teamdata", Advice: "migrate it to a file with that one: teamdata migrate"}
	// Nothing but a server for tests writes to a database for tests, and that to no other: a
	// reset deletes what is in it.
	case writes && s.forTests && a != forTests:
		return &Error{Text: "is for tests: a server with --test-clock made it, and its reset deletes what is in it", Advice: "give another one in --data"}
	case s.ours && !s.forTests && a == forTests:
		return &Error{Text: "is not for tests, and --test-clock needs one that is, because a reset deletes what is in it", Advice: "give an empty database in --data, which is for tests from then on"}
	case s.carriedTo != "" && writes:
		return &Error{Text: "was carried to " + s.carriedTo + " by teamdata migrate, where nothing arrives that is written here", Advice: "give that in --data; to use this one again in its place, run in it: UPDATE meta SET carried_to = ''"}
	case !s.ours && a == reading:
		return &Error{Text: "is empty: no teamdata has used it", Advice: "correct --data, or fill it with: teamdata serve or teamdata import"}
	case len(s.unread) > 0:
		return &Error{Text: "does not let the role read " + some(s.unread), Advice: "use the role that owns the tables"}
	case a != reading && !s.mayCreate:
		return &Error{Text: "does not let the role create tables in the schema " + s.name, Advice: "let the role own the database, or grant it CREATE on the schema"}
	case a != reading && len(s.unwritten) > 0:
		return &Error{Text: "does not let the role write and alter " + some(s.unwritten), Advice: "use the role that owns the tables"}
	case s.ours && s.number < last && a == reading:
		return &Error{Text: fmt.Sprintf("has schema %d, and this teamdata needs %d", s.number, last), Advice: "make a backup with pg_dump, then start a server on it, which upgrades it: teamdata serve"}
	case s.number > last && last < s.mayRead:
		return &Error{Text: fmt.Sprintf("has schema %d, which a newer teamdata wrote: this one reads up to %d", s.number, last), Advice: "run the newer one"}
	case s.number > last && last < s.mayWrite && a != reading:
		return &Error{Text: fmt.Sprintf("has schema %d, which a newer teamdata wrote: this one, of %d, may read it and not write", s.number, last), Advice: "run the newer one"}
	}
	return nil
}

// some are the first few of many names.
func some(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}
