package schema

import (
	"fmt"
	"strings"
)

// maxShown limits what names and values of others add to a message.
const maxShown = 300

func short(message string) string { return fmt.Sprintf("%.*s", maxShown, message) }

// quotes are shown as 'a', 'b'.
type quotes []string

func (q quotes) String() string {
	var b strings.Builder
	for i, text := range q {
		if b.Len() > maxShown {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		text = fmt.Sprintf("%.*q", maxShown, text)
		b.WriteString("'" + strings.NewReplacer(`\"`, `"`, `'`, `\'`).Replace(text[1:len(text)-1]) + "'")
	}
	return b.String()
}

// display shows a value that is neither object nor list.
func display(value any) string {
	switch v := value.(type) {
	case string:
		return quotes{v}.String()
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}

// placeOf formats a place, such as lines[2].price.
func placeOf(steps []string) string {
	var place strings.Builder
	for _, s := range steps {
		switch {
		case s != "" && strings.Trim(s, "0123456789") == "":
			place.WriteString("[" + s + "]")
		case place.Len() > 0:
			place.WriteString("." + s)
		default:
			place.WriteString(s)
		}
	}
	return place.String()
}
