package web

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"teamdata/store"
)

func TestLimit(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "2": 2, "50": 50, "99": 99, "100": 100,
		"007": 7, "%31%30": 10, strings.Repeat("0", 500) + "100": 100,
		"0": 0, "101": 0, "000": 0, "-1": 0, "+5": 0, "%2B5": 0, "5.0": 0, "1e1": 0, "0x5": 0, "": 0,
		"+": 0, " 5": 0, "5+": 0, "٥": 0, "five": 0, "%": 0, "%zz": 0, "5;after=1.a": 0,
		"18446744073709551617": 0, strings.Repeat("9", 500): 0,
	} {
		q, err := ParsePageQuery("limit=" + text)
		if valid := err == nil; valid != (want > 0) || valid && q.Limit != want {
			t.Errorf("limit=%s: got %d, %v", text, q.Limit, err)
		}
	}
}

// contractCursor is the pattern of after and next, word for word.
var contractCursor = regexp.MustCompile(`^\d{1,15}\.[\s\S]+$`)

func TestAfter(t *testing.T) {
	for _, text := range []string{
		"0.a", "1767225600000.mem_1", "999999999999999.x", "000000000000000.x", "1..", "1.a.b", "1. ", "1.\n", "1.ü\x00",
		"", ".a", "1.", "1", "a.b", "-1.a", "1234567890123456.a", "1.5e3", "１.a", "+1.a", " 1.a", "1,a",
	} {
		q, err := ParsePageQuery("after=" + url.QueryEscape(text))
		if want := contractCursor.MatchString(text); (err == nil) != want {
			t.Errorf("after=%q: got %v, and the pattern says %v", text, err, want)
		}
		if err == nil && q.AfterText != text {
			t.Errorf("after=%q became %q", text, q.AfterText)
		}
	}
	if _, err := ParsePageQuery("after=1.%ff"); err == nil {
		t.Error("text that is not UTF-8 passed; it can't be echoed")
	}
}

func TestPageQuery(t *testing.T) {
	for query, want := range map[string]string{ // the field that is complained of
		"":                           "",
		"&&":                         "",
		"other":                      "",
		"other=%zz&%zz=1&;=&limit=5": "",
		"Limit=0&AFTER=x":            "", // names are case-sensitive, so these are others
		"limit=5&after=1.a":          "",
		"%6Cimit=0":                  "limit",
		"limit":                      "limit",
		"limit=":                     "limit",
		"limit=5&limit=5":            "limit",
		"limit=5&%6cimit=5":          "limit",
		"limit=5&after=1.a&limit=6":  "limit",
		"limit=%":                    "limit",
		"limit=%4":                   "limit",
		"after":                      "after",
		"after=":                     "after",
		"after=1.a&after=1.a":        "after",
		"after=1.%zz":                "after",
		"after=&limit=0":             "limit",
	} {
		_, err := ParsePageQuery(query)
		field := ""
		if err != nil {
			field = err.(*store.Error).Field
		}
		if field != want {
			t.Errorf("%s: got %v, want a complaint of %q", query, err, want)
		}
	}
	if q, _ := ParsePageQuery("x=1"); q.Limit != 50 || !q.After.IsZero() {
		t.Errorf("the default is %+v", q)
	}
}

// FuzzPageQuery holds the query's parser to that of package url, where the two mean
// the same: what it takes is in bounds and of the contract's pattern, and a
// parameter that was given once is taken as it is.
func FuzzPageQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, query string) {
		q, err := ParsePageQuery(query)
		if err == nil && (q.Limit < minLimit || q.Limit > MaxLimit || q.AfterText != "" && !contractCursor.MatchString(q.AfterText)) {
			t.Errorf("%q passed as %+v", query, q)
		}
		values, malformed := url.ParseQuery(query)
		if malformed != nil {
			return
		}
		if want := validPage(values); want != (err == nil) {
			t.Errorf("%q: %v, want taken: %v", query, err, want)
		}
		if err == nil && q.AfterText != values.Get("after") {
			t.Errorf("%q: after is %q, and not %q", query, values.Get("after"), q.AfterText)
		}
	})
}

var contractLimit = regexp.MustCompile(`^0*([1-9]\d?|100)$`)

func validPage(values url.Values) bool {
	limit, after := values["limit"], values["after"]
	return len(limit) <= 1 && len(after) <= 1 && (len(limit) == 0 || contractLimit.MatchString(limit[0])) &&
		(len(after) == 0 || contractCursor.MatchString(after[0]) && utf8.ValidString(after[0]))
}
