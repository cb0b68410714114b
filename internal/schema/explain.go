package schema

import (
	"fmt"
	"strconv"
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

// placeOf formats a place, such as lines[2].price. A name that could be taken for an index
// is in quotes.
func placeOf(steps []step) string {
	var place strings.Builder
	for _, s := range steps {
		if s.inList {
			fmt.Fprintf(&place, "[%d]", s.index)
			continue
		}
		if place.Len() > 0 {
			place.WriteByte('.')
		}
		if strings.Trim(s.name, "0123456789") == "" {
			s.name = strconv.Quote(s.name)
		}
		place.WriteString(s.name)
	}
	return place.String()
}
