package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func eventTypeCommand(k *kit) *cobra.Command {
	n := newNoun(k, "event-type", "Types of events, built in or of your own")
	n.addList(verb{
		short:   "List the event types",
		example: "event-type list",
		run: func(s *session, _ []string) error {
			return s.list("/event-types", nil, columns{"TYPE", "name", "BUILT IN", "builtIn", "DESCRIPTION", "description"}, "no event types")
		},
	})
	var schemaFile string
	f := n.add(verb{
		use: "set TYPE", short: "Add an event type, or change one of yours", args: one, ids: eventTypeIDs,
		long: `Set adds an event type, or replaces one: what is left out, it has no more. With a
JSON Schema the data of each event is held to it.`,
		example: "event-type set invoice.paid --description 'An invoice was paid'\nevent-type set invoice.paid --schema-file invoice.schema.json",
		run: func(s *session, args []string) error {
			body := given(s.cmd.Flags(), "description")
			if schemaFile != "" {
				schema, err := readJSON(s.cmd, "schema-file", schemaFile)
				if err != nil {
					return err
				}
				body["schema"] = schema
			}
			return s.ask(http.MethodPut, pathTo("event-types", args[0]), body, "name")
		},
	})
	f.String("description", "", "a `text`, for people")
	f.StringVar(&schemaFile, "schema-file", "", "a `file` with the JSON Schema of its data; - is the standard input")
	n.add(verb{
		use: "remove TYPE", short: "Remove an event type that no endpoint selects", args: one, ids: eventTypeIDs,
		example: "event-type remove invoice.paid --yes",
		confirm: func(args []string) string { return "This removes the event type " + args[0] },
		run: func(s *session, args []string) error {
			return s.remove(pathTo("event-types", args[0]), "event type "+args[0])
		},
	})
	return n.Command
}
