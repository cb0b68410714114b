package store

import (
	"slices"
	"strings"
)

// AllEvents is what an endpoint selects to receive events of all types but signals, see
// [IsSignal]. Otherwise it selects a type by its name, or a group such as member.*: all types that begin with
// "member.". Selections are resolved when an event happens, so a group and
// AllEvents also select types that are registered later.
const AllEvents = "*"

// Groups returns the groups that an event type is in, the largest first: for a.b.c
// they are a.* and a.b.*.
func Groups(eventType string) (groups []string) {
	for i := range len(eventType) {
		if eventType[i] == '.' {
			groups = append(groups, eventType[:i+1]+AllEvents)
		}
	}
	return groups
}

// Selects reports whether the endpoint receives events of the type.
func (e *Endpoint) Selects(eventType string) bool {
	return slices.ContainsFunc(e.Events, func(selection string) bool { return selects(selection, eventType) })
}

func selects(selection, eventType string) bool {
	if selection == AllEvents {
		return !IsSignal(eventType)
	}
	prefix, several := strings.CutSuffix(selection, AllEvents)
	return selection == eventType || several && strings.HasPrefix(eventType, prefix)
}

func selectsAny(selection string, eventTypes []string) bool {
	return slices.ContainsFunc(eventTypes, func(name string) bool { return selects(selection, name) })
}

// checkSelections checks what an endpoint is to receive. Each selection selects at
// least one event type that exists: a group without any is nearly always a slip, and
// the endpoint would wait for events in silence.
func checkSelections(tx Tx, selections []string) error {
	if len(selections) == 0 {
		return Invalid("events", "must not be empty")
	}
	for i, selection := range selections {
		if slices.Contains(selections[:i], selection) {
			return Invalid("events", "%q is given twice", selection)
		}
		if err := checkSelection(tx, selection); err != nil {
			return err
		}
	}
	return nil
}

func checkSelection(tx Tx, selection string) error {
	name, group := strings.CutSuffix(selection, "."+AllEvents)
	switch {
	case selection != AllEvents && strings.Contains(name, AllEvents):
		return Invalid("events", "%.64q has a * in the wrong place", selection).Advise("a * stands alone, for all events, or ends a group, as member.* does")
	case selectsAny(selection, BuiltInEventTypes):
		return nil
	case !group:
		_, err := tx.EventType(selection)
		if IsNotFound(err) {
			err = NoEventType("events", selection)
		}
		return err
	}
	own, err := eventTypeNames(tx)
	if err == nil && !selectsAny(selection, own) {
		err = adviseEventTypes(Invalid("events", "no event type begins with %.64q", name+"."))
	}
	return err
}

// needs returns the first of an endpoint's selections that would select nothing if an
// event type were deleted and the others were left; empty: none.
func (e *Endpoint) needs(eventType string, others []string) string {
	i := slices.IndexFunc(e.Events, func(selection string) bool {
		return selects(selection, eventType) && !selectsAny(selection, others)
	})
	if i < 0 {
		return ""
	}
	return e.Events[i]
}
