package clientaddr

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
)

const space = " \t"

// elements are those of a list header, the last first. Several lines of one name are one
// list.
func elements(lines []string) iter.Seq[string] {
	return func(yield func(element string) bool) {
		for _, line := range slices.Backward(lines) {
			for line != "" {
				i := lastComma(line)
				if !yield(line[i+1:]) {
					return
				}
				line = line[:max(i, 0)]
			}
		}
	}
}

// lastComma returns the index of the last comma outside quotes, or -1. Since it
// reads from the end, a quote opened further to the left can't swallow what a
// proxy added.
func lastComma(line string) int {
	quoted := false
	for i := len(line) - 1; i >= 0; i-- {
		switch {
		case line[i] == '"' && !(quoted && escaped(line[:i])):
			quoted = !quoted
		case line[i] == ',' && !quoted:
			return i
		}
	}
	return -1
}

// escaped reports whether what follows the text is escaped by its end.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// xForwardedFor reads 192.0.2.1, 192.0.2.1:80, 2001:db8::1 or [2001:db8::1]:80.
func xForwardedFor(element string) netip.Addr {
	if addr, err := netip.ParseAddr(element); err == nil {
		return addr
	}
	return node(element)
}

// node reads a node of RFC 7239: 192.0.2.1 or [2001:db8::1], and perhaps a port.
// unknown and obfuscated identifiers, such as _hidden, hold no address.
func node(text string) netip.Addr {
	end := strings.IndexByte(text, ':')
	if strings.HasPrefix(text, "[") {
		end = strings.IndexByte(text, ']') + 1
	} else if end < 0 {
		end = len(text)
	}
	host, bracketed := strings.CutPrefix(text[:end], "[")
	addr, err := netip.ParseAddr(strings.TrimSuffix(host, "]"))
	if err != nil || addr.Is6() != bracketed || !isPort(text[end:]) {
		return netip.Addr{}
	}
	return addr
}

// isPort recognises a colon and a number of at most 5 digits, or an obfuscated port
// such as _p1; or nothing.
func isPort(text string) bool {
	port, ok := strings.CutPrefix(text, ":")
	if hidden, is := strings.CutPrefix(port, "_"); ok && is {
		return hidden != "" && strings.Trim(hidden, letters+digits+"._-") == ""
	}
	return text == "" || ok && port != "" && len(port) <= 5 && strings.Trim(port, digits) == ""
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)
