package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"teamdata/store/rows"
)

// Instructions are an org's instructions to its assistant. Its zero value
// means that the org has set none.
type Instructions struct {
	Text      string    // empty if they were cleared
	Set       bool      // false: the instructions were cleared
	UpdatedAt time.Time // zero: they were never set
}

// orgInstructions are instructions with the org that they are of.
type orgInstructions struct {
	orgID string
	Instructions
}

var instructions = rows.Define(&rows.Table[orgInstructions]{
	Kind: rows.Kind{Name: "instructions", Noun: "instructions", Owner: rows.OrgInKey},
	Key:  func(dst []byte, i *orgInstructions) []byte { return append(dst, i.orgID...) },
	Fields: func(c *rows.Codec, i *orgInstructions) {
		c.Text(&i.Text)
		c.Flag(&i.Set)
		c.Time(&i.UpdatedAt)
	},
	Complete: func(key []byte, i *orgInstructions) { i.orgID = string(key) },
})

// Instructions returns the zero value when the org has set none.
func (t Tx) Instructions(orgID string) (Instructions, error) {
	i, err := findOrZero(instructions, t, t.Text(orgID))
	return i.Instructions, err
}

func (t Tx) PutInstructions(orgID string, i Instructions) error {
	return instructions.Put(t.Tx, &orgInstructions{orgID, i})
}

const maxInstructions = 64 << 10 // characters

// AppendJSON appends the instructions as the API shows them.
func (i Instructions) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if i.Set {
		dst = appendString(dst, "instructions", i.Text)
	} else {
		dst = appendNullable(dst, "instructions", "")
	}
	dst = appendTime(dst, "updatedAt", i.UpdatedAt)
	return append(dst, '}')
}

// Version identifies the state of an org's instructions: different states have
// different versions.
func (i Instructions) Version() string {
	sum := sha256.Sum256(i.AppendJSON(nil))
	return hex.EncodeToString(sum[:16])
}

// CheckInstructions checks that the org's instructions still have one of the
// versions that a client has seen. preconditionFailed: they don't.
func CheckInstructions(tx Tx, orgID string, seen []string) error {
	i, err := tx.Instructions(orgID)
	if err == nil && !slices.Contains(seen, i.Version()) {
		err = errInstructionsChanged
	}
	return err
}

var errInstructionsChanged = Errorf(CodePreconditionFailed, "The instructions were changed meanwhile.").Advise("Read them again, and send your change with their ETag.")

// ImportInstructions sets an org's instructions without an audit entry or an
// event, as a fixture does.
func ImportInstructions(tx Tx, orgID string, i Instructions) error {
	if err := cmp.Or(checkLength("instructions", i.Text, maxInstructions), checkHappened(tx, "updatedAt", i.UpdatedAt), checkOrg(tx, orgID)); err != nil {
		return err
	}
	return tx.PutInstructions(orgID, i)
}

// SetInstructions sets or clears an org's instructions, with the audit entry
// and the event assistant.instructionsChanged.
func SetInstructions(tx Tx, actorID, orgID string, text string, set bool) error {
	err := ImportInstructions(tx, orgID, Instructions{Text: text, Set: set, UpdatedAt: tx.Now()})
	return auditAndEmit(err, tx, actorID, orgID, EventInstructionsChanged, "", jsonObject("orgId", orgID))
}
