package boltstore

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// formatDoc is docs/format.md: the text under each bucket's heading.
func formatDoc(t *testing.T) (text string, sections map[string]string) {
	t.Helper()
	text = string(readFile(t, "../../docs/format.md"))
	_, list, _ := strings.Cut(text, "\n## Buckets\n")
	list, _, _ = strings.Cut(list, "\n## ")
	sections = map[string]string{}
	for _, section := range strings.Split(list, "\n### ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		sections[strings.Trim(heading, "`")] = body
	}
	return text, sections
}

func TestFormatNamesTheBuckets(t *testing.T) {
	_, sections := formatDoc(t)
	for _, name := range buckets {
		if _, ok := sections[string(name)]; !ok {
			t.Errorf("docs/format.md lacks the bucket %s", name)
		}
		delete(sections, string(name))
	}
	for name := range sections {
		t.Errorf("docs/format.md names a bucket %s, which there is not", name)
	}
}

func TestFormatNamesTheSchema(t *testing.T) {
	text, _ := formatDoc(t)
	if want := fmt.Sprintf("\nSchema version: %d\n", schemaVersion()); !strings.Contains(text, want) {
		t.Errorf("docs/format.md does not say %q", strings.TrimSpace(want))
	}
	if want := fmt.Sprintf(`"schema":%d,`, schemaVersion()); !strings.Contains(string(readFile(t, "../../docs/admin-api.md")), want) {
		t.Errorf("docs/admin-api.md does not say %s", want)
	}
	if (*tx)(nil).Rewritable() != 1024 || !strings.Contains(text, "body has up to 1,024 bytes") {
		t.Error("docs/format.md gives another length of bodies in deliveries")
	}
	if span := fmt.Sprintf("21,600,000 (%d hours)", partitionSpan/time.Hour); !strings.Contains(text, span) || partitionSpan.Milliseconds() != 21_600_000 {
		t.Errorf("docs/format.md does not divide by %s", span)
	}
}

var (
	fieldRow = regexp.MustCompile(`(?m)^\| [^|]+ \| ([a-z]+) \|`)
	recorded = regexp.MustCompile(`→ record`)
)

// kindsOf are the kinds of fields that a section's tables give, in their order:
// first those of the record, then those of a record inside it.
func kindsOf(section string) (tables [][]string) {
	for _, table := range strings.Split(section, "| field | kind | |")[1:] {
		var kinds []string
		for _, row := range fieldRow.FindAllStringSubmatch(table, -1) {
			kinds = append(kinds, row[1])
		}
		tables = append(tables, kinds)
	}
	return tables
}

// TestFormatOfRecords reads records by nothing but the tables of the document,
// and finds in each the values that went into it.
func TestFormatOfRecords(t *testing.T) {
	_, sections := formatDoc(t)
	for _, k := range kinds {
		t.Run(string(k.bucket), func(t *testing.T) {
			section := sections[string(k.bucket)]
			if len(kindsOf(section)) == 0 {
				t.Fatal("docs/format.md has no table of its fields")
			}
			for i, sample := range k.samples() {
				got := readByKinds(t, kindsOf(section), k.encode(sample))
				if want := flatten(reflect.ValueOf(sample).Elem()); !slices.Equal(got, want) {
					t.Errorf("sample %d is read as\n%.300q for\n%.300q", i, got, want)
				}
			}
			delete(sections, string(k.bucket))
		})
	}
	for name, section := range sections {
		if recorded.MatchString(section) || len(kindsOf(section)) > 0 {
			t.Errorf("docs/format.md says that %s holds records", name)
		}
	}
}

// readByKinds reads a record as docs/format.md describes it: the first table has
// its fields.
func readByKinds(t *testing.T, tables [][]string, record []byte) (values []string) {
	t.Helper()
	number := func() (n uint64) {
		for shift := 0; len(record) > 0; shift += 7 { // it may end early
			b := record[0]
			record = record[1:]
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		return n
	}
	text := func() string {
		n := number()
		s := string(record[:n])
		record = record[n:]
		return s
	}
	inner := tables[1:] // one for each field of the kind records
	for _, kind := range tables[0] {
		value := ""
		switch kind {
		case "number", "flag":
			value = fmt.Sprint(number())
		case "text", "bytes", "hash":
			value = text()
		case "texts":
			for range number() {
				value += text() + "\n"
			}
		case "records":
			for range number() {
				values = append(values, readByKinds(t, inner[:1], []byte(text()))...)
			}
			inner = inner[1:]
			continue
		case "time":
			if n := number(); n > 0 {
				value = fmt.Sprint(n - 1)
			}
		default:
			t.Fatalf("there is no kind %q", kind)
		}
		values = append(values, value)
	}
	if len(record) > 0 {
		t.Errorf("%d bytes are left", len(record))
	}
	return values
}

// flatten lists the values in a struct, as readByKinds does.
func flatten(v reflect.Value) (values []string) {
	for i := range v.NumField() {
		if !isStored(v.Type(), i) {
			continue
		}
		switch f := v.Field(i); x := f.Interface().(type) {
		case time.Time:
			value := ""
			if !x.IsZero() {
				value = fmt.Sprint(x.UnixMilli())
			}
			values = append(values, value)
		case []string:
			values = append(values, strings.Join(append(slices.Clone(x), ""), "\n"))
		case []store.Attempt:
			for _, a := range x {
				values = append(values, flattenAttempt(a)...)
			}
		case []store.Passkey, []store.Lease, []store.Grant:
			for i := range f.Len() {
				values = append(values, flatten(f.Index(i))...)
			}
		case map[string]string:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				values = append(values, name, x[name])
			}
		case bool:
			values = append(values, map[bool]string{true: "1", false: "0"}[x])
		default:
			values = append(values, flattenKind(f)...)
		}
	}
	return values
}

func flattenKind(f reflect.Value) []string {
	switch f.Kind() {
	case reflect.Struct:
		return flatten(f)
	case reflect.Array, reflect.Slice:
		if f.Type().Elem().Kind() == reflect.Int {
			return flattenInts(f)
		}
		b := make([]byte, f.Len())
		reflect.Copy(reflect.ValueOf(b), f)
		return []string{string(b)}
	case reflect.String:
		return []string{f.String()}
	case reflect.Int:
		return []string{fmt.Sprint(f.Int())}
	}
	return []string{fmt.Sprint(f.Uint())}
}

func flattenInts(f reflect.Value) (values []string) {
	for i := range f.Len() {
		values = append(values, fmt.Sprint(f.Index(i).Int()))
	}
	return values
}

// flattenAttempt has how long the attempt took in place of when it ended.
func flattenAttempt(a store.Attempt) []string {
	took := fmt.Sprint(a.Took().Microseconds())
	values := flatten(reflect.ValueOf(a))
	values[1] = took
	return values
}
