package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// Read calls fn with the data of a database that no server uses, and locks it against
// changes meanwhile. A sealed database needs its key, and one in plain text none: it is
// read as it is. Once fn has carried the data to another place, the database says so: a
// server that was not there ends when it comes back, and none starts.
func Read(ctx context.Context, target *Target, key rows.Sealer, to string, fn func(store.Source) error) error {
	return lockWhole(ctx, target, reading, "SHARE", func(w *whole) error {
		_, last := ends(ownMigrations())
		var newer, seal []row
		err := w.run(ctx, newQuery("SELECT 1::bigint FROM meta WHERE schema > $1::bigint", last).collect(&newer), newQuery("SELECT sealed FROM seals").collect(&seal))
		switch {
		case err != nil:
		case len(newer) > 0: // there may be records of which this program knows nothing
			err = &Error{Text: "was written by a newer teamdata", Advice: "migrate with that one"}
		case len(seal) > 0:
			err = checkSeal(rows.Sealing{Sealer: key}, seal[0][0])
		case key != nil:
			err = &Error{Text: "is not sealed", Advice: "leave out --seal-key-file, and seal the data afterwards by serving it with the key"}
		}
		if err != nil {
			return target.refusal(err)
		}
		if err := fn(w); err != nil {
			return err
		}
		if err = w.run(ctx, newQuery("UPDATE meta SET carried_to = $1", to)); err == nil {
			err = w.exec(ctx, sqlForgetNodes+"; COMMIT")
		}
		if err != nil {
			return target.refusal(&Error{Text: "was carried to " + to + ", and can't be told so", Advice: "see to it that no server uses it any more", Err: err})
		}
		return nil
	})
}

// sqlForgetNodes lets nodes that are not seen find out when they come back that others had
// the database for themselves.
const sqlForgetNodes = "DELETE FROM commits; DELETE FROM writers; DELETE FROM nodes"

// Fill fills an empty database in one transaction, which commits once fn returns nil.
// Whatever fails before and whenever the process is killed, the database is as empty as
// it was. With a key it is sealed from then on.
func Fill(ctx context.Context, target *Target, key rows.Sealer, fn func(store.Carrier) error) error {
	return lockWhole(ctx, target, upgrading, "SHARE ROW EXCLUSIVE", func(w *whole) error {
		if err := w.mustBeEmpty(ctx); err != nil {
			return target.refusal(err)
		}
		if err := fn(w); err != nil {
			return err
		}
		if seal := (rows.Sealing{Sealer: key}); seal.On() {
			if err := w.run(ctx, newQuery("INSERT INTO seals (name, sealed) VALUES ($1, $2)", sealName, seal.SealValue(sealCheck, sealPlace, sealName, ""))); err != nil {
				return target.refusal(err)
			}
		}
		return w.exec(ctx, sqlForgetNodes+"; COMMIT")
	})
}

// whole is all data of a database, in one transaction that has locked its tables. Its
// errors are for the operator.
type whole struct {
	*conn
	target *Target
}

var _ store.Carrier = (*whole)(nil)

// lockWhole calls fn with all data of a database.
func lockWhole(ctx context.Context, target *Target, a access, lock string, fn func(*whole) error) error {
	p := newPool(target, 1)
	defer p.close()
	if err := p.prepare(ctx, ownMigrations(), a); err != nil {
		return err
	}
	return p.with(ctx, func(ctx context.Context, c *conn) error {
		w := &whole{c, target}
		if err := w.lock(ctx, lock); err != nil {
			return target.refusal(err)
		}
		return fn(w)
	})
}

// lock begins the transaction and locks its tables, so that each of its statements finds
// what the first one does. At first it keeps all nodes from beginning anything. The
// transaction waits as long as the other side takes.
func (w *whole) lock(ctx context.Context, mode string) error {
	const limits = `SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '0', true)`
	if err := w.awaitNodes(ctx); err != nil {
		return err
	}
	names := []string{"generations"}
	for _, t := range keptTables() {
		names = append(names, t.name)
	}
	there, err := w.rows(ctx, query{sql: sqlBegin}, query{sql: limits}, query{sql: "LOCK TABLE meta, nodes, writers, commits IN EXCLUSIVE MODE"},
		query{sql: "LOCK TABLE " + strings.Join(names, ", ") + " IN " + mode + " MODE"}, newQuery(sqlThere))
	if len(there) > 0 {
		return inUse(whoUses(there))
	}
	if hasCode(err, "55P03", "40P01") {
		return inUse("somebody keeps its tables locked")
	}
	return err
}

func inUse(by string) error {
	return &Error{Text: "is in use: " + by, Advice: "stop the servers and the commands that use it", Passes: true}
}

// awaitNodes waits for the end of the nodes that are stopping, or that were killed just
// now, and refuses those that are seen again meanwhile.
func (w *whole) awaitNodes(ctx context.Context) error {
	const most, pause = leaseTime + 2*beatEvery, 50 * time.Millisecond
	first := map[string]string{}
	for began := time.Now(); ; {
		there, err := w.rows(ctx, newQuery(sqlThere+" ORDER BY state, name"))
		if err != nil || len(there) == 0 {
			return err
		}
		late := time.Since(began) > most
		there = slices.DeleteFunc(there, func(r row) bool {
			id, seen := string(r[2]), string(r[4])
			if first[id] == "" {
				first[id] = seen
			}
			return !late && (first[id] == seen || string(r[3]) == store.NodeStopping)
		})
		if len(there) > 0 {
			return inUse(whoUses(there))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// mustBeEmpty refuses a database with records of any kind.
func (w *whole) mustBeEmpty(ctx context.Context) error {
	for _, t := range keptTables() {
		if t == lockedOrgs || t == users { // they are only there to be locked
			continue
		}
		rows, err := w.rows(ctx, newQuery("SELECT 1::bigint FROM "+t.name+" LIMIT 1"))
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return &Error{Text: "is not empty: there is something in its table " + t.name, Advice: "give an empty database"}
		}
	}
	return nil
}

// exec runs a statement that may take long.
func (w *whole) exec(ctx context.Context, sql string) error {
	_, err := w.Exec(ctx, sql).ReadAll()
	return w.target.refusal(err)
}

// Dump reads the rows of each kind as they come.
func (w *whole) Dump(ctx context.Context, fn store.EachRecord) error {
	for _, kind := range store.Kinds() {
		k := carriedKinds()[kind]
		err := w.each(ctx, k.query, func(values row) (err error) {
			var key []byte
			if len(values) > 1 {
				key = values[0]
			}
			record := values[len(values)-1]
			if k.record != nil {
				if record, err = k.record(record); err != nil {
					return w.damaged(kind, key, err)
				}
			}
			return fn(kind, key, record)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls fn with the rows of a query, until it fails.
func (w *whole) each(ctx context.Context, sql string, fn func(row) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader := w.ExecParams(ctx, sql, nil, nil, nil, binaryFormat)
	for reader.NextRow() {
		if err := fn(reader.Values()); err != nil {
			cancel() // closing would read the rest of the rows
			reader.Close()
			return err
		}
	}
	_, err := reader.Close()
	return w.target.refusal(err)
}

func (w *whole) damaged(kind store.Kind, key []byte, err error) error {
	return fmt.Errorf("%s %q: %w", kind, key, err)
}
