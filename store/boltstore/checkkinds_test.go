package boltstore

import (
	"bytes"
	"fmt"
	"testing"

	"teamdata/store"
	"teamdata/store/rows"
)

// TestCheckNoticesEveryKind damages a row of each kind, and each of its entries: a new kind
// needs no line here.
func TestCheckNoticesEveryKind(t *testing.T) {
	t.Parallel()
	var tx rows.Tx
	tx.On(nil, new(rows.Writing))
	for _, k := range rows.Kinds() {
		f := newFixture(t, Options{ForTests: true})
		must(t, f.Clear(bg, ""))
		r := rows.Row{Key: []byte("org_1\x00row_1"), Value: k.Records.Encode(samplesOf(k.Name, k.Records)[0])}
		if k.Entries != nil {
			must(t, k.Entries(&tx, r.Key, r.Value, false, &r.Entries))
		}
		must(t, f.Load(bg, func(put store.EachRecord) error { return put(store.Kind(k.Name), r.Key, r.Value) }))
		f.close()
		content := readFile(t, f.path)
		for _, d := range damagesOf(t, k, &r) {
			d.check(t, content)
		}
	}
}

// damagesOf are those of the only row of a kind. Values of any form, and indexes that the
// row isn't in, need lines in damages.
func damagesOf(t *testing.T, k *rows.Kind, r *rows.Row) (all []damage) {
	t.Helper()
	change := spoil
	if k.Span > 0 {
		change = inPartition(spoil)
	}
	if _, err := k.Records.Decode(append(bytes.Clone(r.Value), 1)); err != nil {
		all = append(all, damage{[]byte(k.Name), change, []string{k.Name + ` "`, "the record is damaged"}})
	} else if !hasDamage(k.Name) && k.Name != "certificates" { // texts of any form
		t.Errorf("no test damages %s", k.Name)
	}
	n := map[string]int{}
	for i, x := range k.Indexes {
		if len(r.Entries[i].Key) > 0 {
			n[x.Name]++
			all = append(all, damage{[]byte(x.Name), loseKey(string(r.Entries[i].Key)), []string{fmt.Sprintf("%s %q: is not in %s under %q", k.Name, r.Key, x.Name, r.Entries[i].Key)}})
		} else if !hasDamage(x.Name) {
			t.Errorf("no test damages %s", x.Name)
		}
	}
	for name, entries := range n {
		all = append(all, damage{[]byte(name), put([]byte("~"), nil), []string{fmt.Sprintf("%s: entries: %d, %s: %d", name, entries+1, k.Name, entries)}},
			damage{[]byte(k.Name), lose, []string{fmt.Sprintf("%s: entries: %d, %s: 0", name, entries, k.Name)}})
	}
	return all
}

func hasDamage(bucket string) bool {
	for _, d := range damages {
		if string(d.bucket) == bucket {
			return true
		}
	}
	return false
}
