package wheel

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	digitBits = 6 // one level's share of a tick; 64 slots fill a bitmap word
	perLevel  = 1 << digitBits
	levels    = 11 // 11 digits of 6 bits cover every 64-bit tick
	dueSlot   = levels * perLevel
)

// slots sorts entries by how their tick differs from now. An entry's level is
// the highest digit in which the two differ, its slot that digit of the tick;
// entries with a tick of now or before wait in one slot of their own.
//
// Three properties follow, on which everything else rests. The slot of an entry can
// be computed, so it needn't be stored. A lower level is due before a higher one, and
// a lower slot before a higher one. Moving now forward up to the start of the first
// slot in use leaves every entry where it belongs.
type slots[K comparable] struct {
	now      uint64
	inUse    [levels + 1]uint64 // a bit for each slot that holds entries
	lists    [dueSlot + 1]list[K]
	dueSince uint64 // no entry of the due slot has an earlier tick
	unsorted bool   // the due slot is not in order of tick
}

func (s *slots[K]) due() *list[K] { return &s.lists[dueSlot] }

// level is the highest digit in which two ticks differ, given their
// exclusive or, which must not be 0.
func level(diff uint64) int { return (bits.Len64(diff) - 1) / digitBits }

// slot is the number of the slot that tick belongs to on a level.
func slot(tick uint64, level int) int {
	return level*perLevel + int(tick>>(level*digitBits)%perLevel)
}

func (s *slots[K]) find(tick uint64) int {
	if tick <= s.now {
		return dueSlot
	}
	return slot(tick, level(tick^s.now))
}

func (s *slots[K]) link(e *entry[K]) {
	i := s.find(e.tick)
	if i == dueSlot {
		s.noteDue(e.tick)
	}
	s.lists[i].push(e)
	s.inUse[i/perLevel] |= 1 << (i % perLevel)
}

func (s *slots[K]) noteDue(tick uint64) {
	due := s.due()
	if due.empty() {
		s.dueSince, s.unsorted = tick, false
		return
	}
	s.dueSince = min(s.dueSince, tick)
	s.unsorted = s.unsorted || tick < due.tail.tick
}

func (s *slots[K]) unlink(e *entry[K]) {
	i := s.find(e.tick)
	s.lists[i].drop(e)
	if s.lists[i].empty() {
		s.inUse[i/perLevel] &^= 1 << (i % perLevel)
	}
}

// take empties a slot.
func (s *slots[K]) take(i int) list[K] {
	l := s.lists[i]
	s.lists[i] = list[K]{}
	s.inUse[i/perLevel] &^= 1 << (i % perLevel)
	return l
}

// first returns the first slot in use after now, and its first tick.
func (s *slots[K]) first() (i int, start uint64, ok bool) {
	for lv, inUse := range s.inUse[:levels] {
		if inUse == 0 {
			continue
		}
		digit := bits.TrailingZeros64(inUse)
		below := lv * digitBits
		above := s.now >> below &^ (perLevel - 1)
		return lv*perLevel + digit, (above | uint64(digit)) << below, true
	}
	return 0, 0, false
}

// move brings now to tick, and what is due by then into the due slot.
func (s *slots[K]) move(tick uint64) {
	if tick < s.now {
		s.rewind(tick)
	}
	for {
		i, start, ok := s.first()
		if !ok || start > tick {
			break
		}
		s.now = start
		s.relink(s.take(i))
	}
	s.now = tick
}

func (s *slots[K]) relink(l list[K]) {
	for e := l.head; e != nil; {
		next := e.next
		s.link(e)
		e = next
	}
}

// rewind moves now back. Up to the level of the change, entries agreed with
// the old now in that digit, so its slot there, empty until now, takes them
// all. Entries that were due may not be any more.
func (s *slots[K]) rewind(tick uint64) {
	overdue := s.take(dueSlot)
	top := level(s.now ^ tick)
	home := slot(s.now, top)
	for lv := range top {
		for s.inUse[lv] != 0 {
			i := lv*perLevel + bits.TrailingZeros64(s.inUse[lv])
			s.lists[home].concat(s.take(i))
			s.inUse[top] |= 1 << (home % perLevel)
		}
	}
	s.now = tick
	s.relink(overdue)
}

// sortDue puts the due slot in order. It is out of order only when dues in the
// past were set.
func (s *slots[K]) sortDue() {
	if !s.unsorted {
		return
	}
	var all []*entry[K]
	for e := s.due().head; e != nil; e = e.next {
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *entry[K]) int { return cmp.Compare(a.tick, b.tick) })
	s.take(dueSlot)
	for _, e := range all {
		s.link(e)
	}
}

// entry is one id in one slot's list. Its tick says which slot.
type entry[K comparable] struct {
	id         K
	tick       uint64
	prev, next *entry[K]
}

// list is a doubly linked list of entries, in the order they were set.
type list[K comparable] struct {
	head, tail *entry[K]
}

func (l *list[K]) empty() bool { return l.head == nil }

func (l *list[K]) len() int {
	n := 0
	for e := l.head; e != nil; e = e.next {
		n++
	}
	return n
}

func (l *list[K]) push(e *entry[K]) {
	e.prev, e.next = nil, nil
	l.concat(list[K]{head: e, tail: e})
}

// concat moves all of more, which must not be empty, to the end of l.
func (l *list[K]) concat(more list[K]) {
	if l.head == nil {
		*l = more
		return
	}
	l.tail.next, more.head.prev = more.head, l.tail
	l.tail = more.tail
}

func (l *list[K]) drop(e *entry[K]) {
	if e.prev == nil {
		l.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}
