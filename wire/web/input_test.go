package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestIdempotencyKeyForm(t *testing.T) {
	for name, row := range map[string]struct {
		values []string
		ok     bool
	}{
		"none":                {nil, true},
		"one character":       {[]string{"k"}, true},
		"all of ASCII":        {[]string{` !"#$%&'()*+,-./0123456789:;<=>?@ABC[\]^_abc{|}~`}, true},
		"255 characters":      {[]string{strings.Repeat("~", 255)}, true},
		"256 characters":      {[]string{strings.Repeat("~", 256)}, false},
		"empty":               {[]string{""}, false},
		"below the printable": {[]string{"a\x1fb"}, false},
		"a tab":               {[]string{"a\tb"}, false},
		"above the printable": {[]string{"a\x7f"}, false},
		"not ASCII":           {[]string{"é"}, false},
		"twice":               {[]string{"k", "k"}, false},
	} {
		r := Request{HTTP: &http.Request{Header: http.Header{"Idempotency-Key": row.values}}}
		key, err := r.IdempotencyKey()
		if (err == nil) != row.ok || row.ok && row.values != nil && key != row.values[0] {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
}
