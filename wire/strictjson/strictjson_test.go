package strictjson

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// everything has a field of each type.
type everything struct {
	text, nullable   string
	given, nullGiven bool
	time             time.Time
	bool             bool
	int              int64
	raw              []byte
	texts            []string
	scopes           store.KeyScope
	inner            string
	list             []string
}

type text string

func (e *everything) read(r *Reader) error {
	var tagged struct {
		Nullable *string `json:"nullable,omitempty" null:"clears"`
		Int      *int64  `json:"int" range:"-5,7"`
		Bool     bool    `json:"bool"`
		Object   *struct {
			Inner text `json:"inner"`
		} `json:"object"`
	}
	err := r.Document(append(r.Struct(&tagged),
		Given(&e.given, r.Value("text", &e.text)),
		r.Value("time", &e.time),
		r.Value("raw", &e.raw),
		r.Value("texts", &e.texts),
		Set(r, "scopes", &e.scopes, store.ParseScope),
		r.List("list", func() error {
			var name string
			err := r.Fields(r.Value("name", &name))
			e.list = append(e.list, r.Place()+"="+name)
			return err
		}),
	)...)
	if e.nullGiven = tagged.Nullable != nil; e.nullGiven {
		e.nullable = *tagged.Nullable
	}
	if tagged.Int != nil {
		e.int = *tagged.Int
	}
	e.bool = e.bool || tagged.Bool
	if tagged.Object != nil {
		e.inner = string(tagged.Object.Inner)
	}
	return err
}

func parse(text string) (e everything, err error) {
	err = e.read(New(strings.NewReader(text), 1<<20))
	return e, err
}

const full = `{"list": [{"name": "a"}, {}], "object": {"inner": "i"}, "scopes": ["write"],
"texts": ["x", ""], "raw": {"a": [1e2, null,
  "]\"}"]}, "int": -5, "bool": true, "time": "2026-01-02T03:04:05.678Z", "nullable": "", "text": "é"}`

func TestEachTypeIsRead(t *testing.T) {
	e, err := parse(full)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "all", fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", everything{
		text: "é", given: true, nullGiven: true, time: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), bool: true, int: -5,
		raw: []byte("{\"a\": [1e2, null,\n  \"]\\\"}\"]}"), texts: []string{"x", ""}, scopes: store.ScopeWrite,
		inner: "i", list: []string{"list[0]=a", "list[1]="},
	}))
}

// The mark that some editors begin a file with is none of the document.
func TestByteOrderMark(t *testing.T) {
	plain, err := parse(full)
	if err != nil {
		t.Fatal(err)
	}
	marked, err := parse("\ufeff" + full)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "marked", fmt.Sprintf("%+v", marked), fmt.Sprintf("%+v", plain))
	_, err = parse("\ufeff" + `{"raw": }`)
	equal(t, "the place of an error", fmt.Sprint(err), "line 1, column 9: invalid character '}' looking for beginning of value")
	if _, err = parse("\ufeff\ufeff{}"); err == nil {
		t.Error("two marks are read")
	}
}

// Null clears a field with that tag. Of any other it counts as left out.
func TestNullIsLeftOut(t *testing.T) {
	e := everything{
		text: "x", nullable: "x", time: time.Unix(1, 0), bool: true, int: 1, raw: []byte("1"),
		texts: []string{"x"}, scopes: store.ScopeRead,
	}
	want := e
	want.nullable, want.nullGiven = "", true
	err := e.read(New(strings.NewReader(`{"text": null, "nullable": null, "time": null, "bool": null, "int": null,
		"raw": null, "texts": null, "scopes": null, "object": null, "list": null}`), 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "all", fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", want))
}

// What has to be there is missing if it is null, whatever its type.
func TestRequired(t *testing.T) {
	var e everything
	types := func(r *Reader) []Field {
		return []Field{
			r.Value("f", &e.text), r.Value("f", &e.time), r.Value("f", &e.bool), r.Value("f", &e.int), r.Value("f", &e.raw),
			r.Value("f", &e.texts), Set(r, "f", &e.scopes, store.ParseScope), r.Object("f"), r.List("f", nil), r.Value("f", new(*string)),
		}
	}
	for i := range types(New(nil, 0)) {
		for _, text := range []string{`{"object": {"f": null}}`, `{"object": {}}`} {
			r := New(strings.NewReader(text), 100)
			err := r.Document(r.Object("object", Required(types(r)[i], "give it")))
			equal(t, fmt.Sprint(i, text), fmt.Sprint(err), "object.f: is missing; give it")
		}
	}
	var null struct {
		F *string `json:"f" null:"value"`
	}
	r := New(strings.NewReader(`{"f": null}`), 100)
	equal(t, "null is a value", r.Document(Required(r.Struct(&null)[0], "give it")), nil)
	equal(t, "and nothing", null.F, nil)
	r = New(strings.NewReader(`{"f": []}`), 100)
	equal(t, "none is a value", r.Document(Required(r.Value("f", &e.texts), "give it")), nil)
	equal(t, "and differs from left out", e.texts != nil, true)
}

// Structs may lie in lists and in one another; an item has nothing of the one before it.
func TestStructsInLists(t *testing.T) {
	type item struct {
		Name *string `json:"name"`
		Tags []text  `json:"tags"`
	}
	var items struct {
		Items *[]item `json:"items"`
	}
	r := New(strings.NewReader(`{"items": [{"name": "a", "tags": ["x"]}, {"tags": []}, {"name": ""}]}`), 100)
	equal(t, "error", r.Document(r.Struct(&items)...), nil)
	list := *items.Items
	equal(t, "items", fmt.Sprintf("%d %s %s %t %t %q %t", len(list), *list[0].Name, list[0].Tags, list[1].Name == nil, list[1].Tags != nil, *list[2].Name, list[2].Tags == nil), `3 a [x] true true "" true`)
	r = New(strings.NewReader(`{"items": [{}, {"tags": ["x", 1]}]}`), 100)
	equal(t, "place", fmt.Sprint(r.Document(r.Struct(&items)...)), "items[1].tags[1]: is a number; a string is expected")
}

func TestWhatIsLeftOutStays(t *testing.T) {
	for _, text := range []string{"{}", " {\n}\n"} {
		e := everything{text: "x", int: 3, texts: []string{"y"}, scopes: store.ScopeRead}
		want := fmt.Sprintf("%+v", e)
		if err := e.read(New(strings.NewReader(text), 100)); err != nil {
			t.Fatal(err)
		}
		equal(t, text, fmt.Sprintf("%+v", e), want)
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  "the input is empty",
		" \n\n":                             "the input is empty",
		`{"text": "`:                        "line 1, column 11: the input ends too early",
		"{\"list\": [\n":                    "line 1, column 12: the input ends too early",
		`{"raw": {"a"`:                      "line 1, column 13: the input ends too early",
		`{"raw": `:                          "line 1, column 9: the input ends too early",
		`{} {}`:                             "line 1, column 4: there is more after the end",
		`{} ]`:                              "line 1, column 4: invalid character ']' looking for beginning of value",
		"{\n\"texts\": [\"\xff":             "line 2, column 12: is not valid UTF-8",
		"{\"raw\": {\n \"a\":\n [1, 2, x]}": "line 3, column 9: invalid character 'x' looking for beginning of value",
		`{"raw": "a` + "\n" + `"}`:          `line 1, column 11: invalid character '\n' in string literal`,
		`{"raw": }`:                         "line 1, column 9: invalid character '}' looking for beginning of value",
		`{,}`:                               "line 1, column 2: invalid character ',' looking for beginning of object key string",
		`{"text": "a",,}`:                   "line 1, column 14: invalid character ',' looking for beginning of object key string",
		`{"text": ,}`:                       "line 1, column 10: invalid character ',' looking for beginning of value",
		`{"list": [, 1]}`:                   "line 1, column 11: invalid character ',' looking for beginning of value",

		`[]`:                                 "is a list; an object is expected",
		`1e999`:                              "is a number; an object is expected",
		`null`:                               "is null; an object is expected",
		`{"list": [null]}`:                   "list[0]: is null; an object is expected",
		`{"texts": ["x", null]}`:             "texts[1]: is null; a string is expected",
		`{"Text": ""}`:                       `Text: unknown field; did you mean "text"?`,
		`{"object": {"inne": 1}}`:            `object.inne: unknown field; did you mean "inner"?`,
		`{"list": [{}, {"title": ""}]}`:      "list[1].title: unknown field; the only field is name",
		`{"text": "", "text": ""}`:           "text: is given twice",
		`{"text": 7}`:                        "text: is a number; a string is expected",
		`{"nullable": []}`:                   "nullable: is a list; a string is expected",
		`{"time": "2026-01-01"}`:             `time: "2026-01-01" is not a date-time in UTC such as 2026-10-06T12:00:00.000Z`,
		`{"bool": "true"}`:                   "bool: is a string; true or false is expected",
		`{"int": true}`:                      "int: is true or false; a whole number is expected",
		`{"int": 8}`:                         "int: is 8; a whole number from -5 to 7 is expected",
		`{"int": 1.5}`:                       "int: is 1.5; a whole number from -5 to 7 is expected",
		`{"int": 8.0}`:                       "int: is 8.0; a whole number from -5 to 7 is expected",
		`{"int": 1e999999999}`:               "int: is 1e999999999; a whole number from -5 to 7 is expected",
		`{"int": 99999999999999999999}`:      "int: is 99999999999999999999; a whole number from -5 to 7 is expected",
		`{"texts": "x"}`:                     "texts: is a string; a list is expected",
		`{"texts": ["x", 1]}`:                "texts[1]: is a number; a string is expected",
		`{"scopes": ["read", "fly"]}`:        `scopes[1]: "fly" is not a scope; the scopes are read, write and receive`,
		`{"list": {}}`:                       "list: is an object; a list is expected",
		`{"raw": ` + lists(MaxDepth+1) + `}`: "raw: nests objects or lists to a depth of more than 64",
	} {
		_, err := parse(text)
		equal(t, text, fmt.Sprint(err), want)
		var e *store.Error
		equal(t, text+" is a store.Error", errors.As(err, &e), true)
	}
}

func lists(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestDepthOfRawValues(t *testing.T) {
	text := lists(MaxDepth)
	e, err := parse(`{"raw": ` + text + `}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "raw", string(e.raw), text)
}

// JSON has no integers: some programs write a whole number with a fraction, or with an
// exponent.
func TestWaysToWriteAWholeNumber(t *testing.T) {
	for _, text := range []string{"5", "5.0", "5.000", "50e-1", "0.5E+1"} {
		e, err := parse(`{"int": ` + text + `}`)
		equal(t, text, err, nil)
		equal(t, text, e.int, 5)
	}
}

func TestIntReachesToItsBounds(t *testing.T) {
	for _, n := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		var got struct {
			N int64 `json:"n" range:"-9223372036854775808,9223372036854775807"`
		}
		r := New(strings.NewReader(fmt.Sprintf(`{"n": %d}`, n)), 100)
		if err := r.Document(r.Struct(&got)...); err != nil {
			t.Fatal(err)
		}
		equal(t, "n", got.N, n)
	}
}

func TestPlacesOfErrorsOfOthers(t *testing.T) {
	inner := store.Invalid("name", "is odd")
	equal(t, "inside", Inside("list[3]", inner).Error(), "list[3].name: is odd")
	equal(t, "at the top", Inside("", inner).Error(), "name: is odd")
	equal(t, "the first stays", inner.Field, "name")
	fault := store.Unavailable(errors.New("gone"))
	equal(t, "a fault of the storage", Inside("list[3]", fault), error(fault))
}

func TestHints(t *testing.T) {
	known := []Field{{name: "id"}, {name: "createdAt"}, {name: "scopes"}}
	for name, want := range map[string]string{
		"ID": `did you mean "id"?`, "created_at": `did you mean "createdAt"?`, "scope": `did you mean "scopes"?`,
		"CREATEDAT": `did you mean "createdAt"?`, "xy": "the fields are id, createdAt, scopes",
		"": "the fields are id, createdAt, scopes", strings.Repeat("id", 1000): "the fields are id, createdAt, scopes",
	} {
		equal(t, name, hint(name, known), want)
	}
	equal(t, "of none", hint("x", nil), "no field is allowed here")
}
