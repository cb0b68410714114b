package rows

import "bytes"

// Owner is whose a row is, or whose all in a range are: tests hold transactions to it. The
// zero Owner is nobody in particular, and of a range, many.
type Owner struct {
	Org    string
	User   string // of an Org's row, who has a part in it, without whom it isn't written
	Key    string // of an Org's row, the idempotency key that alone has it
	Number uint64 // of an endpoint: of an Org's row, it may be told; else it says whose the row is
}

// OrgInKey is the owner of a row whose key is an org, or begins with its Part.
func OrgInKey(key, _ []byte) (Owner, bool) {
	org, _, _ := bytes.Cut(key, []byte{0})
	return Owner{Org: string(org)}, true
}

// UserInKey is the owner of a row whose key is a user.
func UserInKey(key, _ []byte) (Owner, bool) { return Owner{User: string(key)}, true }

// NumberInKey is the owner of a row whose key is a number.
func NumberInKey(key, _ []byte) (Owner, bool) { return Owner{Number: ReadNumber(key)}, true }

// OfOrg is the owner of a range of keys that begin with the Part of an org.
func OfOrg(b Bounds) Owner { return Owner{Org: firstPart(b)} }

// OfUser is the owner of a range of keys that begin with the Part of a user.
func OfUser(b Bounds) Owner { return Owner{User: firstPart(b)} }

// OfNumber is the owner of a range of keys that begin with a number.
func OfNumber(b Bounds) Owner {
	if len(b.From) < 8 || b.To == nil || bytes.Compare(b.To, End(b.From[:8])) > 0 {
		return Owner{}
	}
	return Owner{Number: ReadNumber(b.From)}
}

// firstPart is the first Part of all keys within bounds; empty: they have several.
func firstPart(b Bounds) string {
	first, _, ok := bytes.Cut(b.From, []byte{0})
	if !ok || b.To == nil || bytes.Compare(b.To, End(b.From[:len(first)+1])) > 0 {
		return ""
	}
	return string(first)
}
