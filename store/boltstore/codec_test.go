package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

func TestRoundTrip(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k.bucket), func(t *testing.T) {
			for i, sample := range k.samples() {
				value, err := k.decode(k.encode(sample))
				if err != nil {
					t.Fatal(i, err)
				}
				if !reflect.DeepEqual(value, sample) {
					t.Errorf("sample %d is read as %+.500v", i, value)
				}
			}
		})
	}
}

func TestTimesAreKeptToTheMillisecond(t *testing.T) {
	fine, orgs := someTime.Add(999_999).In(time.FixedZone("elsewhere", 3600)), rowsOf("orgs")
	read, err := orgs.decode(orgs.encode(&store.Org{CreatedAt: fine}))
	must(t, err)
	if want := fine.UTC().Truncate(time.Millisecond); read.(*store.Org).CreatedAt != want {
		t.Errorf("%v is read as %v", fine, read)
	}
}

// TestRecordsOutliveTheirTransaction: what is read shares no memory with the
// file, which is not the record's any more when the transaction has ended.
func TestRecordsOutliveTheirTransaction(t *testing.T) {
	for _, k := range kinds {
		record := k.encode(k.samples()[0])
		value, err := k.decode(record)
		must(t, err)
		clear(record)
		if !reflect.DeepEqual(value, k.samples()[0]) {
			t.Errorf("%s: a change of the record changed what was read", k.bucket)
		}
	}
}

// TestOlderRecord cuts a record at every byte. A cut behind a field is an older
// record, and reads as one that has only the fields before it; any other is
// damage.
func TestOlderRecord(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k.bucket), func(t *testing.T) {
			record := k.encode(k.samples()[0])
			older := 0
			for end := range record {
				value, err := k.decode(record[:end])
				if err != nil {
					if !errors.Is(err, rows.ErrRecord) {
						t.Fatal(err)
					}
					continue
				}
				older++
				again := k.encode(value)
				if !bytes.HasPrefix(again, record[:end]) || len(bytes.Trim(again[end:], "\x00\x20")) > 0 {
					t.Errorf("cut at %d it is read as %+v", end, value)
				}
			}
			if want := countFields(reflect.TypeOf(k.samples()[0]).Elem()); older < want {
				t.Errorf("%d cuts are older records, for %d fields", older, want)
			}
		})
	}
}

// countFields counts the fields of a struct, and of the structs in it.
func countFields(of reflect.Type) (n int) {
	for i := range of.NumField() {
		if !isStored(of, i) {
			continue
		}
		if f := of.Field(i).Type; f.Kind() == reflect.Struct && f != reflect.TypeFor[time.Time]() {
			n += countFields(f)
		} else {
			n++
		}
	}
	return n
}

// isStored tells whether a field of a struct is in records. What an Answer keeps in place of
// its body is the body there. The id of a delivery is the key, as are fields that no other
// package sees.
func isStored(of reflect.Type, field int) bool {
	if !of.Field(field).IsExported() {
		return false
	}
	switch name := of.Field(field).Name; of {
	case reflect.TypeFor[store.Answer]():
		return name != "Kept"
	case reflect.TypeFor[store.Delivery]():
		return name != "ID"
	}
	return true
}

func TestNewerRecordIsNotTakenForWhole(t *testing.T) {
	for _, k := range kinds {
		if _, err := k.decode(append(k.encode(k.samples()[0]), 0)); !errors.Is(err, rows.ErrRecord) {
			t.Errorf("%s: a byte too many: %v", k.bucket, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for i, k := range kinds {
		for _, sample := range k.samples() {
			if record := k.encode(sample); len(record) < 1<<12 {
				f.Add(uint8(i), record)
			}
		}
	}
	f.Add(uint8(5), binary.AppendUvarint(make([]byte, 5), math.MaxUint64))
	f.Fuzz(func(t *testing.T, which uint8, record []byte) {
		k := kinds[int(which)%len(kinds)]
		value, err := k.decode(record)
		if err != nil {
			if !errors.Is(err, rows.ErrRecord) {
				t.Errorf("another error: %v", err)
			}
			return
		}
		if e, ok := value.(*store.Endpoint); ok && len(e.Events) > len(record) {
			t.Errorf("%d texts out of %d bytes", len(e.Events), len(record))
		}
		again, err := k.decode(k.encode(value))
		must(t, err)
		if !reflect.DeepEqual(value, again) {
			t.Errorf("%+v is read again as %+v", value, again)
		}
	})
}
