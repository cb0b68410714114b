package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// query is one statement of a batch.
type query struct {
	sql    string // of few different texts, each of which a connection prepares once
	values [][]byte

	// row is called with each row that comes back, whose values are valid until it
	// returns. Nil drops them.
	row func(values [][]byte) error
}

// answerTime is how long the answers to a batch may take. A link that hangs is noticed
// by then; a slow statement ends before that, by its statement_timeout.
const answerTime = 10 * time.Second

// run sends queries in one write and reads all answers: one round trip. Those that begin
// no transaction are one together, with the settings of the session, or of a pooler's
// transaction with its own. The first that fails ends the batch, those behind it are
// skipped, and an open transaction can only be rolled back. A caller that goes away does
// not end what has begun, since that would cost the connection; the deadline of ctx does.
func (c *conn) run(ctx context.Context, queries ...query) (err error) {
	if c.server.pooled && c.TxStatus() == 'I' && !strings.HasPrefix(queries[0].sql, "BEGIN") {
		return c.run(ctx, slices.Concat([]query{{sql: sqlBegin}, {sql: sqlLimits}}, queries, []query{{sql: "COMMIT"}})...)
	}
	deadline := time.Now().Add(c.answer)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	p := c.StartPipeline(ctx)
	var prepared []string
	for i := range queries {
		if c.send(p, &queries[i]) {
			prepared = append(prepared, queries[i].sql)
		}
	}
	n := 0
	if err = p.Sync(); err == nil {
		n, err = c.receive(p, queries)
	}
	for _, sql := range prepared[n:] { // they were skipped
		delete(c.names, sql)
	}
	if closing := p.Close(); err == nil {
		err = closing
	}
	if c.alone && err == nil {
		err = errAlone
	}
	c.alone = false
	if demoted(err) {
		c.Close(ctx) // and with it the idle ones: the primary is elsewhere now
	}
	return err
}

// send sends one query, and reports whether it was prepared for that. Directly,
// each is prepared with its first use, which saves more than half of the time that a
// small one takes; a pooler may give the next transaction to another server, which
// does not know it.
func (c *conn) send(p *pgconn.Pipeline, q *query) (prepared bool) {
	if c.server.pooled {
		p.SendQueryParams(q.sql, q.values, nil, binaryFormat, binaryFormat)
		return false
	}
	name, known := c.names[q.sql]
	if !known {
		c.last++
		name = fmt.Sprintf("teamdata_%d", c.last)
		c.names[q.sql] = name
		p.SendPrepare(name, q.sql, nil)
	}
	p.SendQueryPrepared(name, q.values, binaryFormat, binaryFormat)
	return !known
}

// receive reads the answers of a batch to its end, also behind an error. It returns
// how many statements were prepared.
func (c *conn) receive(p *pgconn.Pipeline, queries []query) (prepared int, err error) {
	for answered := 0; ; {
		result, failed := p.GetResults()
		switch result := result.(type) {
		case *pgconn.ResultReader:
			failed = readAnswer(result, queries[answered].row)
			answered++
		case *pgconn.StatementDescription:
			prepared++
		case *pgconn.PipelineSync:
			return prepared, cmp.Or(err, failed)
		}
		err = cmp.Or(err, failed)
		if c.IsClosed() {
			return prepared, cmp.Or(err, pgconn.ErrConnClosed)
		}
	}
}

// readAnswer reads the answer of one query to its end.
func readAnswer(reader *pgconn.ResultReader, row func([][]byte) error) (err error) {
	for reader.NextRow() {
		if row != nil && err == nil {
			err = row(reader.Values())
		}
	}
	_, failed := reader.Close()
	return cmp.Or(failed, err)
}
