package strictjson

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReader holds any input to: no panic; what is read is JSON, and what is
// kept raw is a value of it.
func FuzzReader(f *testing.F) {
	for _, text := range []string{full, "", "{}", "null", `{"raw": [[1], {"a": "\ud83d\ude80"}]}`, "{\n\"int\": 3}\n\n", `{"text": "`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			return
		}
		equal(t, "the input is JSON", json.Valid([]byte(text)), true)
		equal(t, "raw is JSON", e.raw == nil || json.Valid(e.raw), true)
		equal(t, "raw is a part", strings.Contains(text, string(e.raw)), true)
		equal(t, "the number is in its bounds", e.int >= -5 && e.int <= 7, true)
	})
}
