package admin

import (
	"strings"
	"testing"

	"teamdata/store"
)

// What receivers would read differently is not signed: a name that is given twice,
// however it is written, and half of a character.
func TestEventDataReadsTheSameEverywhere(t *testing.T) {
	env := newTestEnv(t)
	env.Update(func(tx store.Tx) error {
		_, _, err := store.RegisterEventType(tx, store.EventType{Name: "any.thing"})
		return err
	})
	before := env.everything()
	for data, want := range map[string]string{
		`{"a":1,"a":1}`:                                      `data.a: is given twice`,
		`{"a":1,"\u0061":2}`:                                 `data.a: is given twice`,
		`{"a":{"b":[1,{"c":[],"c":{}}]}}`:                    `data.a.b[1].c: is given twice`,
		`{"":{},"":1}`:                                       `data."": is given twice`,
		`{"0":[{},{"7":{"2":0,"2":1}}]}`:                     `data."0"[1]."7"."2": is given twice`,
		`{"":{"a b":1e999,"a b":1}}`:                         `data."".`,
		nested(62, `{"x":1,"y":2,"x":3}`):                    "data" + strings.Repeat(".n", 62) + `.x: is given twice`,
		`{"a":"\ud83d"}`:                                     `line 1, column 34: is half of a surrogate pair`,
		`{"a":"\ude80"}`:                                     `line 1, column 34: is half of a surrogate pair`,
		`{"a":"\ud83d\ud83d\ude80"}`:                         `line 1, column 34: is half of a surrogate pair`,
		`{"a":"\uD83D\uDE80\uDE80"}`:                         `line 1, column 46: is half of a surrogate pair`,
		`{"a":"\ud83d\n\ude80"}`:                             `line 1, column 34: is half of a surrogate pair`,
		`{"a":"\\\ud83dx"}`:                                  `line 1, column 36: is half of a surrogate pair`,
		`{"\udfff":1}`:                                       `line 1, column 30: is half of a surrogate pair`,
		"{\n\"a\":\"" + strings.Repeat("\\ud83d", 2) + "\"}": `line 2, column 6: is half of a surrogate pair`,
	} {
		env.wantError(env.emit("org_acme", "any.thing", data), store.CodeBadRequest, want)
	}
	if after := env.everything(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	for _, data := range []string{
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}],"A":1}`, `{"a":"a","b":"a"}`, `{"a":"\ud83d\ude80\\ud83d"}`, `{"\uD83D\uDE80":"\uFFFD\ud7ff\ue000"}`,
	} {
		env.wantAnswer(env.emit("org_acme", "any.thing", data), 201, `{"deliveries":[]}`)
	}
	env.wantError(env.do("PATCH", "/orgs/org_acme", `{"name":"\ud83d"}`), store.CodeBadRequest, "line 1, column 10: is half of a surrogate pair")
}

// nested is a value in objects of one field n.
func nested(depth int, value string) string {
	return strings.Repeat(`{"n":`, depth) + value + strings.Repeat("}", depth)
}
