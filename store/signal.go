package store

import "slices"

// signalPrefix begins the types of signals.
const signalPrefix = "teamdata."

// Signals are the types of events about the server itself and what it does for an org. The
// last two go to the operator's org.
var Signals = []string{
	EventEndpointDisabled, EventEndpointRecovered, EventDeliveryFailed, EventAPIKeyExpiring, EventAPIKeyEnded,
	EventBackupFailed, EventCertificateExpiring,
}

// IsSignal reports whether a type is that of a signal: an event that an endpoint gets only if
// it selects it by name or by a group, since AllEvents leaves signals out. No signal is about
// the delivery of another one, or those of a broken endpoint would never end. A type of the
// operator's own that is older than the signals is none, whatever its name.
func IsSignal(eventType string) bool { return slices.Contains(Signals, eventType) }
