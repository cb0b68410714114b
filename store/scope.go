package store

// Scope names what an Update reads and writes. An engine that several nodes share
// locks it, in an order of its own, and reads it ahead, before it runs the
// function; a function that leaves its scope is a bug, which the store of every
// test finds. What is server-wide and rarely written (plans, event types,
// certificates, operator tokens) needs All.
type Scope struct {
	Orgs       []string // ids of orgs with all that is theirs, of those that are to be made too
	Users      []string // ids of people: accounts, sessions and memberships, which span orgs
	Keys       []IdempotencyKey
	Deliveries []string // ids of deliveries, to be read ahead
	All        bool     // everything: for what is rare, or knows only later what it needs
}

// IdempotencyKey names the record of a first answer.
type IdempotencyKey struct {
	OrgID string // or OperatorKeys
	Key   string
}

// All is the scope of everything.
var All = Scope{All: true}

// InOrg is the scope of one org.
func InOrg(id string) Scope { return Scope{Orgs: []string{id}} }
