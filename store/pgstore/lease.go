package pgstore

import (
	"context"
)

// sqlShortLimits are those of transactions that a heartbeat waits for.
const sqlShortLimits = `SELECT set_config('statement_timeout', '1s', true), set_config('lock_timeout', '500ms', true), set_config('idle_in_transaction_session_timeout', '1s', true)`

// take takes leases that nobody has, and returns which. A node that was not seen for too
// long can't come back meanwhile, nor write an outcome: both rows of it are locked. The
// last statement must not wait for a lease: PostgreSQL would look at the new row, but not
// for the node that it names.
func (n *node) take(ctx context.Context, names []string) (taken []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	lost := n.sight.lost()
	var rows []row
	err = n.conns.run(ctx,
		query{sql: sqlBegin}, query{sql: sqlShortLimits},
		newQuery("INSERT INTO leases (name) SELECT * FROM unnest($1::text[]) ON CONFLICT DO NOTHING", names),
		newQuery("SELECT 1::bigint FROM nodes WHERE id IN (SELECT node FROM leases WHERE name = ANY($1)) AND "+sqlLost("$2")+" ORDER BY id FOR UPDATE", names, lost),
		newQuery("SELECT 1::bigint FROM writers WHERE node IN (SELECT id FROM nodes WHERE "+sqlLost("$2")+") AND node IN (SELECT node FROM leases WHERE name = ANY($1)) ORDER BY node FOR UPDATE", names, lost),
		newQuery("SELECT 1::bigint FROM leases WHERE name = ANY($1) ORDER BY name FOR UPDATE", names),
		newQuery("UPDATE leases SET node = $2, token = token + 1 WHERE name = ANY($1) AND NOT EXISTS (SELECT FROM nodes WHERE id = leases.node AND NOT "+sqlLost("$3")+") RETURNING name, token", names, n.id, lost).collect(&rows),
		query{sql: "COMMIT"})
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range rows {
		name := string(r[0])
		n.held[name] = readUnsigned(r[1])
		taken = append(taken, name)
	}
	return taken, nil
}

// givingUp are the statements that give leases up. Shards keep their rows; the names of
// jobs are many, such as those of requests.
func (n *node) givingUp(names []string) []query {
	return []query{
		newQuery("UPDATE leases SET node = '' WHERE node = $1 AND name = ANY($2)", n.id, names),
		newQuery("DELETE FROM leases WHERE node = '' AND name LIKE 'job %' AND name = ANY($1)", names),
	}
}

// job is a named lease that functions of this node run under.
type job struct {
	ctx     context.Context // done once the lease is lost
	end     context.CancelFunc
	running int
}

// lockLeases waits until nobody else takes leases or gives them up, which may take a login.
func (n *node) lockLeases(ctx context.Context) error {
	select {
	case n.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *node) unlockLeases() { <-n.turn }

// join joins the functions of this node under a lease, or takes it. Nil: another node
// has it, or may have it by now.
func (n *node) join(ctx context.Context, name string) (*job, error) {
	if err := n.lockLeases(ctx); err != nil {
		return nil, err
	}
	defer n.unlockLeases()
	n.mu.Lock()
	j, token, lapsed := n.jobs[name], n.held[name], n.lapsed()
	n.mu.Unlock()
	if lapsed { // another node may have what this one has
		return nil, nil
	}
	if token == 0 {
		ctx, cancel := context.WithTimeout(ctx, beatTime)
		defer cancel()
		if taken, err := n.take(ctx, []string{name}); len(taken) == 0 {
			return nil, err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lapsed() {
		return nil, nil
	}
	if j == nil || j.ctx.Err() != nil {
		j = &job{}
		j.ctx, j.end = context.WithCancel(context.Background())
		n.jobs[name] = j
	}
	j.running++
	return j, nil
}

// part ends what join began. The next heartbeat gives the lease up.
func (n *node) part(name string, j *job) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if j.running--; j.running > 0 {
		return
	}
	j.end()
	if n.jobs[name] == j {
		delete(n.jobs, name)
	}
	n.nudge()
}
