package pgstore

// The versions of a row that is written again and again stay in its table while anybody
// has a snapshot, such as pg_dump, and who reads the row goes through them. So no row is
// written by every commit: one that is about as old as partCommits commits is left, and the
// next part takes its place, which is found first.
const partCommits = 64

func partOf(commitNo int64) int64 { return commitNo / partCommits }

// sqlHoldWriter locks the row of a node as a writer, which each of its transactions holds
// to the end.
const sqlHoldWriter = "SELECT node FROM writers WHERE node = $1 FOR UPDATE"

// sqlCommitNo reads the number of a node's last commit, by a statement behind the lock.
const sqlCommitNo = "SELECT n FROM commits WHERE node = $1 ORDER BY part DESC LIMIT 1"

// sqlLastID reads the greatest id that any node made and committed.
const sqlLastID = `SELECT max(c.last_id) FROM (SELECT node FROM writers UNION ALL VALUES ('')) w,
	LATERAL (SELECT last_id FROM commits WHERE node = w.node ORDER BY part DESC LIMIT 1) c`

// number are the statements that write the number of a commit, with the last id.
func (t *tx) number(commitNo int64) []query {
	node, part, last := t.s.node.id, partOf(commitNo), t.s.ids.latest()
	if part == partOf(commitNo-1) {
		return []query{newQuery("UPDATE commits SET n = $3, last_id = $4 WHERE node = $1 AND part = $2", node, part, commitNo, last)}
	}
	return []query{
		newQuery("INSERT INTO commits (node, part, n, last_id) VALUES ($1, $2, $3, $4)", node, part, commitNo, last),
		newQuery("DELETE FROM commits WHERE node = $1 AND part = $2", node, part-1),
	}
}
