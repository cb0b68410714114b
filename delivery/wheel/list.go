package wheel

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
