package pgstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"teamdata/store"
)

// fault makes an error of the database one of the contract. An error that is one
// already, or of the caller's context, stays; one that a bug in a statement causes
// stays too, and so is internal. All else passes by itself: unavailable.
func fault(err error) error {
	if err == nil {
		return nil
	}
	_, own := errors.AsType[*store.Error](err)
	server, ok := errors.AsType[*pgconn.PgError](err)
	if own || ok && isBug(server.Code) || !ok && errors.Is(err, context.Canceled) {
		return err
	}
	return store.Unavailable(err)
}

// isBug reports whether a statement is wrong, or breaks a constraint. Rights that are
// missing and objects that are in another state are the operator's.
func isBug(code string) bool {
	return code != "42501" && slices.Contains([]string{"0A", "21", "22", "23", "2F", "42"}, class(code))
}

// class is that of an SQLSTATE: its first two characters.
func class(code string) string { return code[:min(2, len(code))] }

// hasCode reports whether the server failed a statement with one of some SQLSTATEs.
func hasCode(err error, codes ...string) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, server.Code)
}

// retryable reports whether a transaction was rolled back for the sake of another one,
// so that it may succeed when it runs again.
func retryable(err error) bool { return hasCode(err, "40001", "40P01") }

// broken reports whether an error ended the connection, and not just the statement.
func broken(err error) bool {
	if err == nil {
		return false
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		return cmp.Or(server.SeverityUnlocalized, server.Severity) != "ERROR"
	}
	return true
}

// ambiguous reports whether a COMMIT that failed with err may have committed: its
// answer was lost after it was sent. The marker of the transaction tells.
func ambiguous(err error) bool {
	_, own := errors.AsType[*store.Error](err)
	return broken(err) && !own && !pgconn.SafeToRetry(err)
}

// diskFull reports whether the server has no room for what a statement adds.
func diskFull(err error) bool { return hasCode(err, "53100") }

// demoted reports whether the server became a standby, or lets us only read.
func demoted(err error) bool { return hasCode(err, "25006") }

// tableGone reports whether a table is not there that was when the database was opened.
func tableGone(err error) bool { return hasCode(err, "42P01") }

// updatedTooFew reports whether rows were to be updated that are not there.
func updatedTooFew(err error) bool {
	return hasCode(err, "22P02") && strings.Contains(err.Error(), shortUpdate)
}
