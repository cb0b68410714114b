package store

import (
	"strings"
	"testing"
)

// TestExplain has receivers answer in all the usual ways.
func TestExplain(t *testing.T) {
	for answer, want := range map[string]string{
		"":                                  "it answered 500",
		"  \n":                              "it answered 500",
		"<!DOCTYPE html><title>500</title>": "it answered 500",
		"out of disk\nat main.go:12":        "it answered 500: “out of disk”",
		`{"error":{"message":"no \"x\""}}`:  `it answered 500: “no "x"”`,
		`{"error":"bad_id","message":"m"}`:  "it answered 500: “m”",
		`{"code":7}`:                        `it answered 500: “{"code":7}”`,
		"a\u202eb\x00\xff\tc":               "it answered 500: “ab c”",
		strings.Repeat("é", 201):            "it answered 500: “" + strings.Repeat("é", 199) + "…”",
	} {
		a := Attempt{Status: 500, Reason: "it answered 500", Answer: []byte(answer)}
		if got := a.Explain(); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
	}
}
