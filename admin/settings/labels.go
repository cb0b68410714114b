package settings

import "cmp"

// labels are what forms call the fields that the rules have other names for.
var labels = map[string]string{
	"again": "New password, once more", "body": "Body", "description": "Description", "events": "Event types",
	"expiresAt": "Last day", "headers": "Headers", "instructions": "Instructions", "name": "Name",
	"old": "Your password now", "overlap": "The old secret stops signing", "password": "New password",
	"received": "Time of receipt", "scopes": "Scopes", "secret": "Secret of your own",
	"since": "Since", "until": "Before", "url": "URL",
}

// labelOf is what a form calls a field.
func labelOf(field string) string { return cmp.Or(labels[field], field) }
