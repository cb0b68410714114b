package operator

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
)

func eventTypeCommand(e *env) *cobra.Command {
	r := newResource(e, "event-type", "Manage the types of events")
	r.add(action{
		use:     "list",
		example: "event-type list",
		op:      listEventTypes,
		columns: columns{"TYPE", "name", "BUILT IN", "builtIn", "DESCRIPTION", "description"},
		none:    "no event types",
	})
	put := func(a action, isNew bool) {
		var schemaFile string
		a.op, a.shows = putEventType, "name"
		a.addTo = func(s *session, body object) error { return s.eventType(r, isNew, schemaFile, body) }
		r.add(a).Flags().StringVar(&schemaFile, "schema-file", "", "a `file` with the JSON Schema that the data of each event has to match; - is the standard input")
	}
	put(action{
		use: "create TYPE", short: "Create an event type",
		example: "event-type create invoice.paid --description 'An invoice was paid'\nevent-type create invoice.paid --schema-file invoice.schema.json",
	}, true)
	put(action{
		use: "update TYPE", short: "Update an event type",
		long:    `Changes what is given, and leaves the rest as it is.`,
		example: "event-type update invoice.paid --schema-file invoice.schema.json",
	}, false)
	r.add(action{
		use: "delete TYPE", short: "Delete an event type that no endpoint needs",
		long: `An event type can't be deleted while an endpoint selects it by name, or while
it is the last type of a group that an endpoint selects, such as 'invoice.*'.`,
		example: "event-type delete invoice.paid --yes",
		op:      deleteEventType,
		confirm: "This deletes the event type {id}",
	})
	return r.Command
}

// eventType adds to a body the schema of a file, and what the event type has already.
func (s *session) eventType(r *resource, isNew bool, schemaFile string, body object) error {
	had, err := s.findByName(r, isNew)
	if err != nil {
		return err
	}
	for _, field := range []string{"description", "schema"} {
		if _, given := body[field]; !given && had[field] != nil {
			body[field] = had[field]
		}
	}
	if schemaFile != "" {
		body["schema"], err = readJSON(s.cmd, "schema-file", schemaFile)
	}
	return err
}

// findByName returns the record that the first argument names, of a resource whose records the
// API puts by name whether they are new or not. A new record must not exist yet, and
// any other must.
func (s *session) findByName(r *resource, isNew bool) (found map[string]json.RawMessage, err error) {
	_, err = s.eachPage(r.ids.operation, nil, 0, func(items []json.RawMessage) error {
		for _, item := range items {
			var fields map[string]json.RawMessage
			if json.Unmarshal(item, &fields) != nil {
				return errForm
			}
			if textOf(fields[r.ids.field]) == s.args[0] {
				found = fields
			}
		}
		return nil
	})
	name := r.Name() + " " + s.args[0]
	switch {
	case err != nil:
		return nil, err
	case isNew && found != nil:
		return nil, hint.New(name+" already exists", "change it with: teamdata "+r.Name()+" update "+s.args[0])
	case !isNew && found == nil:
		return nil, hint.New("there is no "+name, "list them with: teamdata "+r.Name()+" list")
	}
	return found, nil
}
