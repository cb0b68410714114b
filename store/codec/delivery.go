package codec

import (
	"strings"

	"teamdata/store"
	"teamdata/store/rows"
)

// DeliveryRecord is a delivery as it is stored: under its id, and with the body of
// its event, if the two share the record. It has no event id if that is firstOf
// the delivery's.
type DeliveryRecord struct {
	Body []byte
	store.Delivery
}

// Record codes a delivery with the body of its event.
func Record(c *rows.Codec, r *DeliveryRecord) {
	c.Bytes(&r.Body)
	Delivery(c, &r.Delivery)
}

// Delivery codes a delivery without its id, which is the key.
func Delivery(c *rows.Codec, d *store.Delivery) {
	deliveryHead(c, d)
	c.Text(&d.EventType)
	rows.List(c, &d.History, func(c *rows.Codec, a *store.Attempt) { rows.Inner(c, attemptFields, a) })
}

// deliveryHead codes the first fields of a delivery, up to those that determine
// its place in its endpoint's lists.
func deliveryHead(c *rows.Codec, d *store.Delivery) {
	c.Text(&d.EventID)
	c.Text(&d.OrgID)
	c.Text(&d.EndpointID)
	c.Number(&d.EndpointNumber)
	rows.Small(c, &d.State)
	c.Int(&d.Attempts)
	c.Time(&d.CreatedAt)
	c.Time(&d.FirstAttemptAt)
	c.Time(&d.DueAt)
	c.Time(&d.FinishedAt)
}

func attemptFields(c *rows.Codec, a *store.Attempt) {
	c.Time(&a.StartedAt)
	c.After(a.StartedAt, &a.EndedAt)
	c.Int(&a.Status)
	c.Flag(&a.TimedOut)
	c.Text(&a.Reason)
	c.Bytes(&a.Answer)
	c.Time(&a.NextAt)
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
	return rows.Encode(Record, r)
}

// Complete adds to a delivery what its record leaves out.
func Complete(d *store.Delivery, id string) {
	if d.ID = id; d.EventID == "" {
		d.EventID = firstOf(id)
	}
}

// Bodyless reads a Record's delivery, and skips the body.
func Bodyless(c *rows.Codec, d *store.Delivery) {
	c.Raw()
	Delivery(c, d)
}

// Head reads the numbers and times of a Record's delivery, which determine its
// place in its endpoint's lists, and returns the record's body, without reading
// more of it or copying it.
func Head(record []byte, d *store.Delivery) (body []byte, err error) {
	c := rows.HeadOf(record)
	body = c.Raw()
	deliveryHead(&c, d)
	return body, c.Err()
}
