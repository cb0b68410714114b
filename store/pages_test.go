package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// readPage reads a page of a list. What is read from id to id has no times: the
// Ms of its Cursors is 0.
type readPage func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error)

// item is what a list has at a position.
type item struct {
	at   store.Cursor
	text string
}

func (i item) position() store.Cursor       { return i.at }
func (i item) appendText(dst []byte) []byte { return append(dst, i.text...) }

// holdsList holds pages of a list to the items that are to be there, in the list's order:
// from its start, after each item, or sixteen or so of a long list, after what is gone, and
// after positions around these that name nothing. Each is read twice: with a limit of just
// what is left there, behind which nothing follows, and with another one, which takes turns.
func (s *subject) holdsList(what string, items []item, direction int, read readPage, gone ...store.Cursor) {
	s.Helper()
	cursors := slices.Concat([]store.Cursor{{}}, gone)
	for n := 0; n < len(items); n += 1 + len(items)/16 {
		cursors = append(cursors, around(items[n].at)...)
	}
	slices.SortFunc(cursors, store.Cursor.Compare)
	cursors = slices.Compact(cursors)
	s.Read(func(tx store.Tx) error {
		for turn, after := range cursors {
			left := pageOf(items, item.position, item.appendText, direction, after, len(items), nil).Count
			others := []int{1, 4, left - 1, left + 1, len(items) + 5}
			for _, limit := range []int{max(1, left), max(1, others[turn%len(others)])} {
				want := pageOf(items, item.position, item.appendText, direction, after, limit, []byte("["))
				got, err := read(tx, after, limit, []byte("["))
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(got, want) {
					s.Errorf("%s: %d after %.60q:\n got %.2000s %+v\nwant %.2000s %+v", what, limit, after,
						got.Items, got.Last, want.Items, want.Last)
				}
			}
		}
		return nil
	})
}

// around are cursors at, before and after a position.
func around(c store.Cursor) []store.Cursor {
	near := []store.Cursor{c}
	for _, id := range []string{
		"\x00", "!", "h", "~", "\U0010FFFF", "a.b", strings.Repeat("🚀", 5000), c.ID + "\x00", c.ID + "x",
	} {
		near = append(near, store.Cursor{Ms: c.Ms, ID: id})
	}
	if c.Ms > 0 {
		near = append(near, store.Cursor{Ms: c.Ms - 1, ID: c.ID}, store.Cursor{Ms: c.Ms + 1, ID: c.ID},
			store.Cursor{ID: "x"}, store.Cursor{Ms: 999999999999999, ID: "z"})
	}
	return near
}

// pageOf makes a page of a list that is in order; direction is -1 where its
// positions fall.
func pageOf[T any](list []T, position func(T) store.Cursor, text func(T, []byte) []byte, direction int, after store.Cursor, limit int, dst []byte) store.Page {
	page := store.Page{Items: dst}
	for _, v := range list {
		at := position(v)
		switch {
		case after != (store.Cursor{}) && at.Compare(after)*direction <= 0:
		case page.Count == limit:
			page.More = true
			return page
		default:
			if page.Count > 0 {
				page.Items = append(page.Items, ',')
			}
			page.Items, page.Last = text(v, page.Items), at
			page.Count++
		}
	}
	return page
}

// members, auditLog and latestAudit, which goes back from its end, are of an org.
func members(org string) readPage {
	return func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
		return tx.MemberPage(org, after, limit, dst)
	}
}

func auditLog(org string) readPage {
	return func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
		return tx.AuditPage(org, after, limit, dst)
	}
}

func latestAudit(org string) readPage {
	return func(tx store.Tx, before store.Cursor, limit int, dst []byte) (store.Page, error) {
		return tx.AuditPageBefore(org, before, limit, dst)
	}
}

// deliveries are the ids in one of an endpoint's lists.
func deliveries(endpoint uint64, list store.DeliveryList) readPage {
	return func(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
		found, more, err := tx.DeliveryPage(endpoint, list, after, limit)
		page := pageOf(found, deliveryPosition, appendID, 1, store.Cursor{}, limit+1, dst)
		page.More = more
		return page, err
	}
}

// latestDeliveries are the ids in one or all lists of some endpoints.
func latestDeliveries(endpoints []uint64, lists ...store.DeliveryList) readPage {
	return func(tx store.Tx, before store.Cursor, limit int, dst []byte) (store.Page, error) {
		found, err := tx.LatestDeliveries(endpoints, lists, before, limit+1)
		return pageOf(found, func(d store.Delivery) store.Cursor { return d.Latest() }, appendID, -1, store.Cursor{}, limit, dst), err
	}
}

func deliveryPosition(d store.Delivery) store.Cursor {
	_, at := d.Position()
	return at
}

func appendID(d store.Delivery, dst []byte) []byte { return append(dst, d.ID...) }

func (s *subject) page(read readPage, after store.Cursor, limit int) (page store.Page) {
	s.Helper()
	s.Read(func(tx store.Tx) (err error) {
		page, err = read(tx, after, limit, nil)
		return err
	})
	return page
}

// likeIDs begin alike, in their order.
var likeIDs = []string{"A", "a", "a-", "a0", "aa", "b"}

// orgList is a list that each org has.
type orgList struct {
	name     string
	put      func(tx store.Tx, org string, at store.Cursor) (item, error)
	read     func(org string) readPage
	readBack func(org string) readPage // from the end; nil: it is not read so
}

var orgLists = []orgList{
	{"members", func(tx store.Tx, org string, at store.Cursor) (item, error) {
		m := store.Member{OrgID: org, ID: at.ID, UserID: fmt.Sprintf("%s_%d_%s", org, at.Ms, at.ID), Role: unicode, Name: longText, CreatedAt: timeOf(at)}
		return item{at, string(m.AppendJSON(nil))}, appendMember(tx, m)
	}, members, nil},
	{"audit log", func(tx store.Tx, org string, at store.Cursor) (item, error) {
		e := storetest.Sample[store.AuditEntry](storetest.Values{Text: unicode + org, Most: at.Ms%2 == 0})
		e.OrgID, e.ID, e.CreatedAt = org, at.ID, timeOf(at)
		return item{at, string(e.AppendJSON(nil))}, second(tx.AppendAudit(e))
	}, auditLog, latestAudit},
	{"API keys", func(tx store.Tx, org string, at store.Cursor) (item, error) {
		k := store.APIKey{ID: fmt.Sprintf("%d%s_of_%s", at.Ms, at.ID, org), OrgID: org, CreatedAt: someTime}
		return keysOf(org).item(k), errors.Join(tx.PutAPIKey(store.APIKey{ID: k.ID, OrgID: org}), tx.PutAPIKey(k))
	}, func(org string) readPage { return keysOf(org).read }, nil},
	{"endpoints", func(tx store.Tx, org string, at store.Cursor) (item, error) {
		e := newEndpoint(org, fmt.Sprint(at.Ms, at.ID))
		return endpointsOf(org).item(e), second(tx.AddEndpoint(e))
	}, func(org string) readPage { return endpointsOf(org).read }, nil},
}

func timeOf(c store.Cursor) time.Time { return time.UnixMilli(int64(c.Ms)).UTC() }

// TestLists gives each list of the orgs whose ids begin alike items at the same
// positions, in any order.
func TestLists(t *testing.T) { onBoth(t, testLists) }

func testLists(s *subject) {
	for _, l := range orgLists {
		var items map[string][]item
		s.Write(func(tx store.Tx) error {
			items = map[string][]item{}
			for _, at := range positions() {
				for _, org := range likeIDs {
					i, err := l.put(tx, org, at)
					if err != nil {
						return err
					}
					items[org] = append(items[org], i)
				}
			}
			return nil
		})
		items["a!"] = nil
		for _, list := range items {
			slices.SortFunc(list, func(a, b item) int { return a.at.Compare(b.at) })
		}
		s.holdsOrgs(l, items)
		s.Reopen()
		s.holdsOrgs(l, map[string][]item{"a-": items["a-"]})
	}
}

func (s *subject) holdsOrgs(l orgList, items map[string][]item) {
	s.Helper()
	for org, list := range items {
		s.holdsList(l.name+" of "+org, list, 1, l.read(org))
		if l.readBack != nil {
			back := slices.Clone(list)
			slices.Reverse(back)
			s.holdsList(l.name+" of "+org+", from its end", back, -1, l.readBack(org))
		}
	}
}

// positions are some in any order: three a millisecond, told apart by ids of
// different lengths, and the first and the last that there may be.
func positions() []store.Cursor {
	all := []store.Cursor{store.CursorOf(firstMs, longID), store.CursorOf(lastMs, "-")}
	for i := range 13 {
		all = append(all, store.CursorOf(someTime.Add(time.Duration(i/3)*time.Millisecond), "i"+strings.Repeat("x", i%3)))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
