package clientaddr

import (
	"net/netip"
	"strings"
)

// forwarded reads the parameter for of an element of Forwarded, such as
// for="[2001:db8::1]:80";proto=https. A malformed element, or one without exactly
// one for, has no address.
func forwarded(element string) (addr netip.Addr) {
	found := false
	for rest := element; rest != ""; {
		name, value, after, ok := cutPair(rest)
		if !ok {
			return netip.Addr{}
		}
		if strings.EqualFold(name, "for") {
			if found {
				return netip.Addr{}
			}
			addr, found = node(value), true
		}
		rest = after
	}
	return addr
}

// cutPair reads a pair of a name and a value up to the semicolon after it, or nothing
// up to a semicolon.
func cutPair(text string) (name, value, rest string, ok bool) {
	text = strings.TrimLeft(text, space)
	if text == "" || text[0] == ';' {
		return "", "", strings.TrimPrefix(text, ";"), true
	}
	name, text, ok = strings.Cut(text, "=")
	if !ok || !isToken(name) {
		return "", "", "", false
	}
	if value, text, ok = cutValue(text); !ok {
		return "", "", "", false
	}
	text = strings.TrimLeft(text, space)
	rest, ends := strings.CutPrefix(text, ";")
	return name, value, rest, ends || text == ""
}

// cutValue reads a token or a quoted string.
func cutValue(text string) (value, rest string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		return cutQuoted(text[1:])
	}
	end := strings.IndexAny(text, ";"+space)
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:], isToken(text[:end])
}

// cutQuoted reads what follows an opening quote, up to the closing one.
func cutQuoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

func isToken(text string) bool {
	return text != "" && strings.Trim(text, letters+digits+"!#$%&'*+-.^_`|~") == ""
}
