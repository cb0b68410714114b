package store

import (
	"time"

	"teamdata/store/rows"
)

// Passage is when a delivery came and went at an endpoint.
type Passage struct {
	MadeAt       time.Time // by its id
	FinishedAt   time.Time // zero: it is not finished
	Acknowledged bool      // that is how it finished
}

// EachPassage calls fn with the deliveries of an endpoint that were not finished before a
// time, in no order. It reads no records. whole is false where there are more than limit.
// A delivery that was replayed counts as if it had waited since it was made.
func (t Tx) EachPassage(endpoint uint64, since time.Time, limit int, fn func(Passage)) (whole bool, err error) {
	lists := []DeliveryList{ListWaiting, ListLeased, ListFailed, ListAcknowledged}
	ranges := make([]rows.Range, len(lists))
	for i, list := range lists {
		if ranges[i] = listOf(endpoint, list); list == ListFailed || list == ListAcknowledged {
			ranges[i].From = placeKey(nil, endpoint, list, Cursor{Ms: uint64(max(since.UnixMilli(), 0))})
		}
	}
	n := 0
	err = t.Ranges(&deliveries.Kind, ranges, limit+1, func(i int, item rows.Item) bool {
		if n++; n > limit {
			return false
		}
		at := PositionOf(item.Key)
		ms, ok := IDTime(at.ID)
		if !ok {
			ms = at.Ms
		}
		p := Passage{MadeAt: time.UnixMilli(int64(ms)).UTC()}
		if lists[i] == ListFailed || lists[i] == ListAcknowledged {
			p.FinishedAt, p.Acknowledged = time.UnixMilli(int64(at.Ms)).UTC(), lists[i] == ListAcknowledged
		}
		fn(p)
		return true
	})
	return n <= limit, stored(err)
}
