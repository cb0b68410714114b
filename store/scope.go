package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// Scope names what an Update reads and writes. An engine that several nodes share
// locks it, in an order of its own, and reads it ahead, before it runs the
// function; a function that leaves its scope is a bug, which the store of every
// test finds.
//
// What is server-wide is read in any scope, and written only with All: plans, event
// types, operator tokens, certificates, the operator's log and mail. With All an
// Update has the store for itself. A record that is found by its id alone may turn
// out to be somebody else's: whose it is never changes, and may be looked at.
type Scope struct {
	Orgs       []string // ids of orgs with all that is theirs, of those that are to be made too
	Users      []string // ids of people: accounts, sessions, links and memberships, which span orgs
	Keys       []IdempotencyKey
	Deliveries []string // ids of deliveries of Orgs, or of any with All, to be read ahead
	All        bool     // everything: for what is rare, or knows only later what it needs

	// Fence is that of the claims whose outcome is written. Once it holds no more, the
	// Update fails with fenced, and nothing is written.
	Fence Fence

	// Paced is the id of an endpoint of Orgs, of the Fence's number, for which attempts are
	// reserved; empty: none are.
	Paced string

	// Patient lets the Update wait some milliseconds for another to share its
	// commit: what nobody waits for should not keep the disk busy.
	Patient bool
}

// Ahead is what most Updates of the scope read, of what is kept as rows: of orgs their
// endpoints too, of people their memberships, and all plans, which are few. Outcomes read
// little but their deliveries, and when their endpoint last acknowledged one.
func (s *Scope) Ahead() (wants []rows.Want) {
	if len(s.Orgs) > 0 && s.Fence.Token == 0 {
		wants = append(wants, rows.Want{Kind: &plans.Kind})
		for _, id := range s.Orgs {
			wants = append(wants, rows.Want{Kind: &orgs.Kind, Keys: [][]byte{[]byte(id)}}, rows.Want{Kind: &endpoints.Kind, Bounds: rows.Below(id, "")},
				rows.Want{Kind: &lastRemoved.Kind, Keys: [][]byte{[]byte(id)}})
		}
	}
	if s.Paced != "" {
		return append(wants, rows.Want{Kind: &endpoints.Kind, Keys: [][]byte{rows.Pair(nil, s.Orgs[0], s.Paced)}}, rows.Want{Kind: &grants.Kind, Keys: [][]byte{rows.Number(nil, s.Fence.Endpoint)}})
	}
	if s.Fence.Token != 0 {
		wants = append(wants, rows.Want{Kind: &lastAcknowledged.Kind, Keys: [][]byte{rows.Number(nil, s.Fence.Endpoint)}})
	}
	for _, key := range s.Keys {
		wants = append(wants, rows.Want{Kind: &idempotency.Kind, Keys: [][]byte{rows.Pair(nil, key.OrgID, key.Key)}})
	}
	for _, user := range s.Users {
		wants = append(wants, rows.Want{Kind: &accounts.Kind, Keys: [][]byte{[]byte(user)}})
		for _, org := range s.Orgs {
			wants = append(wants, rows.Want{Kind: &members.Kind, Keys: [][]byte{rows.Pair(nil, org, user)}})
		}
	}
	return wants
}

// Fence is the right to write the outcomes of some claims, which an engine takes away
// before it lets another node claim the same deliveries. The zero Fence always holds:
// it is that of an engine that one process has for itself.
type Fence struct {
	Endpoint uint64 // its number
	Token    uint64 // greater than those that claims of the endpoint had on other nodes before
}

// IdempotencyKey names the record of a first answer.
type IdempotencyKey struct {
	OrgID string // or OperatorKeys
	Key   string // 1 to 255 printable ASCII characters
}

// org is the org that the key is about; empty: it is about none.
func (k IdempotencyKey) org() string { return strings.TrimPrefix(k.OrgID, OperatorKeys("")) }

// All is the scope of everything.
var All = Scope{All: true}

// InOrg is the scope of one org; of everything, if the id is empty.
func InOrg(id string) Scope {
	if id == "" {
		return All
	}
	return Scope{Orgs: []string{id}}
}

// OfUser is the scope of one user's account and sessions.
func OfUser(id string) Scope { return Scope{Users: []string{id}} }

var errOrgsChanged = errors.New("a user manages another org by now")

// UpdateAs is an Update for what people do to their accounts: its scope is those
// users, and the orgs that they manage, whose audit logs tell of it.
func UpdateAs(ctx context.Context, s Store, userIDs []string, fn func(Tx) error) error {
	for {
		scope := Scope{Users: userIDs}
		err := s.View(ctx, func(tx Tx) (err error) {
			scope.Orgs, err = visibleTo(tx, userIDs)
			return err
		})
		if err != nil {
			return err
		}
		err = s.Update(ctx, scope, func(tx Tx) error {
			now, err := visibleTo(tx, userIDs)
			switch {
			case err != nil:
				return err
			case slices.ContainsFunc(now, func(id string) bool { return !slices.Contains(scope.Orgs, id) }):
				return errOrgsChanged
			}
			return fn(tx)
		})
		if err != errOrgsChanged {
			return err
		}
	}
}

// visibleTo lists the orgs that users may see, each once.
func visibleTo(tx Tx, userIDs []string) (orgs []string, err error) {
	for _, id := range userIDs {
		managed, err := tx.VisibleOrgs(id)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, managed...)
	}
	slices.Sort(orgs)
	return slices.Compact(orgs), nil
}
