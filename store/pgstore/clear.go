package pgstore

import (
	"context"
	"slices"

	"teamdata/store/rows"
)

// notCleared are the tables that Clear leaves as they are.
var notCleared = []*table{kindTable("certificates"), seals}

// operatorTokens is the table of which Clear leaves one row.
var operatorTokens = kindTable("operatorTokens")

// Clear deletes all records but the certificates and one operator token, behind the
// updates that run and in front of all others. The database itself says whether it is for
// tests.
func (s *Store) Clear(ctx context.Context, tokenID string) error {
	var queries []query
	for _, t := range keptTables() {
		switch {
		case t == operatorTokens:
			queries = append(queries, query{sql: "DELETE FROM " + t.name + " WHERE key <> $1", values: [][]byte{[]byte(tokenID)}})
		case !slices.Contains(notCleared, t):
			queries = append(queries, query{sql: "DELETE FROM " + t.name})
		}
	}
	queries = append(queries, bump(accessGeneration), bump(typeGeneration), query{sql: "COMMIT"})
	err := s.pool.with(ctx, func(ctx context.Context, c *conn) error {
		err := c.run(ctx, query{sql: sqlBegin}, query{sql: sqlLimits}, query{sql: sqlStopUpdates})
		if err != nil {
			return err
		}
		in, err := readSchema(ctx, c)
		if err == nil {
			err = in.refusal(0, s.node.schema, forTests)
		}
		if err != nil {
			return s.target.refusal(err)
		}
		return c.run(ctx, queries...)
	})
	if err != nil {
		return fault(err)
	}
	s.Tell(&rows.Changes{Touched: true, Retyped: true})
	return nil
}
