package settings

import "cmp"

// labels are what forms call the fields that the rules have other names for.
var labels = map[string]string{
	"again": "Repeat new password", "body": "Body", "description": "Description", "events": "Event types",
	"expiresAt": "Date", "headers": "Headers", "instructions": "Instructions", "name": "Name",
	"old": "Current password", "overlap": "The old secret stops signing", "password": "New password",
	"received": "Time of receipt", "scopes": "Scopes", "secret": "Your own secret",
	"since": "Since", "until": "Before", "url": "URL",
}

// labelOf is what a form calls a field.
func labelOf(field string) string { return cmp.Or(labels[field], field) }
