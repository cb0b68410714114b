package rows

import "encoding/binary"

// The parts of a key: text that another part follows ends with a zero byte, which no id
// contains, and numbers are 8 bytes, big-endian, so that they are in order.

// Part appends a text that another part follows.
func Part(dst []byte, text string) []byte { return append(append(dst, text...), 0) }

// Pair appends a text, and another one behind it.
func Pair(dst []byte, first, second string) []byte { return append(Part(dst, first), second...) }

// Number appends a number.
func Number(dst []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(dst, n) }

// ReadNumber reads the number that a key begins with; 0: it is too short for one.
func ReadNumber(key []byte) uint64 {
	if len(key) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// Below are the bounds of all keys that begin with a Part, from the one after a second
// text on; an empty one: from the first on.
func Below(first, after string) Bounds {
	both := make([]byte, 0, 2*len(first)+len(after)+3)
	from := Pair(both, first, after)
	if after != "" {
		from = append(from, 0)
	}
	to := append(append(from[len(from):], first...), 1)
	return Bounds{from[:len(from):len(from)], to}
}

// After are the bounds of all keys after a text; an empty one: of all.
func After(text string) Bounds {
	if text == "" {
		return Bounds{}
	}
	return Bounds{From: append([]byte(text), 0)}
}

// Only are the bounds of one key.
func Only(key string) Bounds {
	both := append(append(append(make([]byte, 0, 2*len(key)+1), key...), key...), 0)
	return Bounds{both[:len(key):len(key)], both[len(key):]}
}

// Within are the bounds of all keys with a prefix, which is not empty.
func Within(prefix []byte) Bounds { return Bounds{prefix, End(prefix)} }

// End is the first key behind all those with a prefix; nil: none.
func End(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// Behind appends what comes in a key behind its first Part: the key of the row of an
// entry whose key is a Pair.
func Behind(dst, key, _ []byte) []byte {
	for i, b := range key {
		if b == 0 {
			return append(dst, key[i+1:]...)
		}
	}
	return dst
}
