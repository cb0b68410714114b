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
// the delivery of another one, or those of a broken endpoint would never end. An operator's
// own type that is older than the signals is none if it only begins like them; one that has the
// name of a signal counts as the signal, see WasOwnEventType.
func IsSignal(eventType string) bool { return slices.Contains(Signals, eventType) }

// signalOf emits a signal about an endpoint, which does not get it itself while it is
// disabled: it would be told of that once it is no longer true.
func signalOf(tx Tx, about *Endpoint, eventType string, data []byte) error {
	_, err := emit(tx, about.OrgID, eventType, data, func(e *Endpoint) bool { return e.ID != about.ID || !e.Disabled() })
	return err
}

// toldEndpoint finds the endpoint of a delivery that a signal is to be about. none: it is a
// signal itself, or its endpoint was removed.
func toldEndpoint(tx Tx, d *Delivery) (e Endpoint, none bool, err error) {
	if IsSignal(d.EventType) {
		return e, true, nil
	}
	e, err = tx.Endpoint(d.OrgID, d.EndpointID)
	return e, err != nil || e.Number != d.EndpointNumber, unlessNotFound(err)
}

// signalFailed signals that a delivery failed for good.
func signalFailed(tx Tx, d *Delivery) error {
	e, none, err := toldEndpoint(tx, d)
	if none || err != nil {
		return err
	}
	last := d.LastAttempt()
	data := jsonObject("orgId", d.OrgID, "endpointId", d.EndpointID, "deliveryId", d.ID, "eventId", d.EventID, "eventType", d.EventType, "reason", last.Explain())
	return signalOf(tx, &e, EventDeliveryFailed, addNumber(addNumber(data, "status", int64(last.Status)), "attempts", int64(d.Attempts)))
}

// signalRecovered signals that a delivery's endpoint acknowledges again. over is false while
// it is disabled: it recovers once it is enabled.
func signalRecovered(tx Tx, d *Delivery) (over bool, err error) {
	e, none, err := toldEndpoint(tx, d)
	if none || err != nil || e.Disabled() {
		return none, err
	}
	return true, signalOf(tx, &e, EventEndpointRecovered, jsonObject("orgId", d.OrgID, "endpointId", d.EndpointID, "deliveryId", d.ID))
}

// SignalBackupFailed signals to the operator's org why a scheduled backup can't be made.
// notFound: there is no such org.
func SignalBackupFailed(tx Tx, orgID, reason string) error {
	_, err := Emit(tx, orgID, EventBackupFailed, jsonObject("orgId", orgID, "reason", shorten(reason, maxDisabledReason)))
	return err
}

// SignalCertificateExpiring signals to the operator's org that a certificate of the server was
// not renewed in time, once for each time at which one expires. notFound: there is no such
// org.
func SignalCertificateExpiring(tx Tx, orgID string, s CertificateStatus) error {
	told := "signal of " + s.Name + " until " + FormatTime(s.NotAfter) // beside the certificates themselves
	if _, err := tx.Certificate(told); !IsNotFound(err) {
		return err
	}
	data := jsonObject("orgId", orgID, "certificate", s.Name, "expiresAt", FormatTime(s.NotAfter), "reason", shorten(s.LastError, maxDisabledReason))
	if _, err := Emit(tx, orgID, EventCertificateExpiring, data); err != nil {
		return err
	}
	return tx.PutCertificate(told, []byte("told"))
}
