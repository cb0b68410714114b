package clientaddr

import (
	"net/netip"
	"strings"
)

// hops reads the elements of a list header, the last first. Several lines of one
// name are one list.
type hops struct {
	lines []string // yet to be read
	line  string   // the unread rest of the current line
	parse func(element string) netip.Addr
}

const space = " \t"

// next returns the address in the element before the one read last: the zero Addr
// if there is none or it contains no address. Empty elements are skipped.
func (h *hops) next() netip.Addr {
	for h.line != "" || len(h.lines) > 0 {
		if h.line == "" {
			h.line, h.lines = h.lines[len(h.lines)-1], h.lines[:len(h.lines)-1]
		}
		if element := strings.Trim(h.cut(), space); element != "" {
			return h.parse(element)
		}
	}
	return netip.Addr{}
}

// cut takes the last element off the line.
func (h *hops) cut() string {
	i := lastComma(h.line)
	element := h.line[i+1:]
	h.line = h.line[:max(i, 0)]
	return element
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
