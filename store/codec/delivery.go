package codec

import (
	"strings"

	"teamdata/store"
)

// DeliveryRecord is a delivery as it is stored: under its id, and with the body of
// its event, if the two share the record. It has no event id if that is firstOf
// the delivery's.
type DeliveryRecord struct {
	Body []byte
	store.Delivery
}

// Record codes a delivery with the body of its event.
func Record(c *Codec, r *DeliveryRecord) {
	c.bytes(&r.Body)
	Delivery(c, &r.Delivery)
}

// Delivery codes a delivery without its id, which is the key.
func Delivery(c *Codec, d *store.Delivery) {
	deliveryHead(c, d)
	c.text(&d.EventType)
	list(c, &d.History, func(c *Codec, a *store.Attempt) { inner(c, attemptFields, a) })
}

// deliveryHead codes the first fields of a delivery, up to those that determine
// its place in its endpoint's lists.
func deliveryHead(c *Codec, d *store.Delivery) {
	c.text(&d.EventID)
	c.text(&d.OrgID)
	c.text(&d.EndpointID)
	c.number(&d.EndpointNumber)
	small(c, &d.State)
	c.int(&d.Attempts)
	c.time(&d.CreatedAt)
	c.time(&d.FirstAttemptAt)
	c.time(&d.DueAt)
	c.time(&d.FinishedAt)
}

func attemptFields(c *Codec, a *store.Attempt) {
	c.time(&a.StartedAt)
	c.after(a.StartedAt, &a.EndedAt)
	c.int(&a.Status)
	c.flag(&a.TimedOut)
	c.text(&a.Reason)
	c.bytes(&a.Answer)
	c.time(&a.NextAt)
}

// firstOf returns the id of the event whose [store.FirstDelivery] has an id.
func firstOf(deliveryID string) string {
	return store.PrefixEvent + strings.TrimPrefix(deliveryID, store.PrefixDelivery)
}

// EncodeDelivery returns the record of a delivery.
func EncodeDelivery(r DeliveryRecord) []byte {
	if r.EventID == firstOf(r.ID) {
		r.EventID = ""
	}
	return Encode(Record, r)
}

// Complete adds to a delivery what its record leaves out.
func Complete(d *store.Delivery, id string) {
	if d.ID = id; d.EventID == "" {
		d.EventID = firstOf(id)
	}
}

// Bodyless reads a Record's delivery, and skips the body.
func Bodyless(c *Codec, d *store.Delivery) {
	c.next()
	Delivery(c, d)
}

// Head reads the numbers and times of a Record's delivery, which determine its
// place in its endpoint's lists, and returns the record's body, without reading
// more of it or copying it.
func Head(record []byte, d *store.Delivery) (body []byte, err error) {
	c := Codec{buf: record, reading: true, skipping: true}
	body = c.next()
	if deliveryHead(&c, d); c.broken {
		return nil, ErrRecord
	}
	return body, nil
}
