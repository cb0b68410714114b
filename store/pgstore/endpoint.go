package pgstore

// The kinds that this engine reads by itself, to claim what is due.
var (
	deliveries  = kindTable("deliveries")
	events      = kindTable("events")
	removedOrgs = kindTable("removedOrgs")
)

func (t *tx) HTTPOnLoopback() bool { return t.s.options.ForTests }
