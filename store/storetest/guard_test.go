package storetest

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

// serverWide are the kinds that everybody may read.
var serverWide = strings.Fields("certificates eventTypes operatorTokens plans")

// guarded is a row that the guard of a scope is asked for.
type guarded struct {
	*testing.T
	kind                   *rows.Kind
	model                  *rowstest.Model
	mine, theirs           *rows.Row
	ofMine, ofTheirs, both rows.Bounds // of keys that begin with the Part
}

// TestGuardHoldsEveryKind has a scope ask for a row of its own, and for another's, of each
// kind of rows and in each way.
func TestGuardHoldsEveryKind(t *testing.T) {
	for _, k := range rows.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if isWide := slices.Contains(serverWide, k.Name); isWide != everybodys(k) {
				t.Fatal("say whose its rows are, or that they are everybody's to read")
			}
			g := guarded{T: t, kind: k, model: newOracle().model, ofMine: rows.Below("mine", ""), ofTheirs: rows.Below("theirs", ""), both: rows.Bounds{From: []byte("mine\x00"), To: []byte("theirs\x01")}}
			if one := rows.Within(rows.Number(nil, 1)); len(k.Indexes) > 0 && k.Indexes[0].Owner != nil && k.Indexes[0].Owner(one).Number == 1 {
				g.ofMine, g.ofTheirs = one, rows.Within(rows.Number(nil, 2))
				g.both = rows.Bounds{From: g.ofMine.From, To: g.ofTheirs.To}
			}
			g.mine, g.theirs = g.row("mine", 1), g.row("theirs", 2)
			if everybodys(k) {
				g.wide()
			} else {
				g.one()
				g.many()
			}
		})
	}
}

// row writes a row all of whose texts are one.
func (g *guarded) row(of string, number uint64) *rows.Row {
	g.Helper()
	r := g.made(g.kind, of, number)
	kinds := []*rows.Kind{g.kind}
	if g.kind.Beside != nil {
		kinds = append(kinds, g.kind.Beside)
	}
	for _, k := range kinds {
		if err := g.model.Write(k, g.made(k, of, number)); err != nil {
			g.Fatal(err)
		}
	}
	return r
}

func (g *guarded) made(k *rows.Kind, of string, number uint64) *rows.Row {
	record := k.Records.New()
	FillSample(record, Values{Text: of, Time: someTime, Most: true})
	for _, name := range []string{"Number", "EndpointNumber"} {
		if v := reflect.ValueOf(record).Elem(); v.Kind() == reflect.Struct && v.FieldByName(name).IsValid() {
			v.FieldByName(name).SetUint(number)
		}
	}
	r := &rows.Row{Key: []byte(of), Value: k.Records.Encode(record), At: someTime}
	if k.Owner != nil {
		switch o, byKey := k.Owner(rows.Pair(nil, of, of), nil); {
		case o.Number > 0:
			r.Key = rows.Number(nil, number)
		case byKey && !strings.Contains(o.User, "\x00"):
			r.Key = rows.Pair(nil, of, of)
		}
	}
	if k.Entries != nil {
		if err := k.Entries(g.model.Tx(), r.Key, r.Value, false, &r.Entries); err != nil {
			g.Fatal(err)
		}
	}
	return r
}

// ask asks a guard for something, which it lets through or not.
func (g *guarded) ask(what string, lets bool, ask func(rows.Rows) error) {
	g.Helper()
	c := &complaints{TB: g}
	scope := store.Scope{Orgs: []string{"mine"}, Users: []string{"mine"}, Keys: []store.IdempotencyKey{{OrgID: "mine", Key: "mine"}}}
	before := modelRows(g.model)
	err := ask(guard{g.model, &bounds{c, scope, map[uint64]bool{1: true}}})
	if left := err != nil && c.n == 1; left == lets || lets && (err != nil || c.n > 0) {
		g.Errorf("%s: error %v, complaints %d", what, err, c.n)
	}
	if !lets && modelRows(g.model) != before {
		g.Errorf("%s: it was written", what)
	}
}

// modelRows shows all rows.
func modelRows(r rows.Rows) string {
	var b bytes.Buffer
	for _, k := range rows.Kinds() {
		r.Scan(k, rows.Range{Index: rows.ByKey}, func(item rows.Item) bool {
			b.WriteString(k.Name + " " + string(item.Key) + " " + string(item.Value) + "\n")
			return true
		})
	}
	return b.String()
}

// write are ways to write a row.
func (g *guarded) write(r *rows.Row) map[string]func(rows.Rows) error {
	return map[string]func(rows.Rows) error{
		"replacing": func(in rows.Rows) error {
			return in.Write(g.kind, &rows.Row{Key: r.Key, Value: r.Value, Entries: r.Entries, At: r.At.Add(24 * time.Hour)})
		},
		"deleting": func(in rows.Rows) error { return in.Write(g.kind, &rows.Row{Key: r.Key}) },
		"deleting what was read": func(in rows.Rows) error {
			was, _ := g.model.Get(g.kind, r.Key)
			return in.Write(g.kind, &rows.Row{Key: r.Key, Was: was})
		},
	}
}

// scans are ways to read a range.
func (g *guarded) scans(index int, b rows.Bounds) map[string]func(rows.Rows) error {
	r := rows.Range{Index: index, Bounds: b}
	each := func(int, rows.Item) bool { return true }
	return map[string]func(rows.Rows) error{
		"scanning": func(in rows.Rows) error {
			return in.Scan(g.kind, r, func(item rows.Item) bool {
				if g.kind.Only != nil && bytes.Equal(item.Value, g.theirs.Value) {
					g.Errorf("another's is shown as %q", item.Value)
				}
				return true
			})
		},
		"a page": func(in rows.Rows) error { return second(in.Join(g.kind, r, nil)) },
		"ranges": func(in rows.Rows) error {
			return in.Ranges(g.kind, []rows.Range{{Index: index, Bounds: g.ofMine}, r}, 0, each)
		},
		"merging": func(in rows.Rows) error {
			return in.Merge(g.kind, []rows.Range{{Index: index, Bounds: g.ofMine}, r}, 0, 0, each)
		},
	}
}

func (g *guarded) get(r *rows.Row, see func(value []byte)) map[string]func(rows.Rows) error {
	return map[string]func(rows.Rows) error{
		"getting": func(in rows.Rows) error {
			value, err := in.Get(g.kind, r.Key)
			see(value)
			return err
		},
		"getting many": func(in rows.Rows) error {
			return in.Gets(g.kind, [][]byte{g.mine.Key, r.Key}, func(i int, value []byte) error {
				if i == 1 {
					see(value)
				}
				return nil
			})
		},
	}
}

// wide: what is everybody's is only read.
func (g *guarded) wide() {
	for how, ask := range g.get(g.theirs, func([]byte) {}) {
		g.ask(how, true, ask)
	}
	for how, ask := range g.scans(rows.ByKey, rows.Bounds{}) {
		g.ask(how, true, ask)
	}
	for how, ask := range g.write(g.mine) {
		g.ask(how, false, ask)
	}
}

// one: another's row is neither read nor written.
func (g *guarded) one() {
	for how, ask := range g.get(g.mine, func(value []byte) {
		if !bytes.Equal(value, g.mine.Value) {
			g.Errorf("one's own is shown as %q", value)
		}
	}) {
		g.ask(how+" one's own", true, ask)
	}
	for how, ask := range g.get(g.theirs, func(value []byte) {
		if only := g.kind.Only; only != nil && (bytes.Equal(value, g.theirs.Value) || !bytes.Equal(value, only(g.theirs.Key, g.theirs.Value))) {
			g.Errorf("another's is shown as %q", value)
		}
	}) {
		g.ask(how+" another's", g.kind.Only != nil || g.kind.Mentioned && how == "getting many", ask)
	}
	for how, ask := range g.write(g.theirs) {
		g.ask(how+" another's", false, ask)
	}
	for how, ask := range g.write(g.mine) {
		g.ask(how+" one's own", true, ask)
		g.model.Write(g.kind, &rows.Row{Key: g.mine.Key})
		g.model.Write(g.kind, g.mine)
	}
	g.ask("taking what was read of another's", false, func(in rows.Rows) error {
		return in.Write(g.kind, &rows.Row{Key: g.theirs.Key, Value: g.mine.Value, Was: g.theirs.Value, At: someTime.Add(24 * time.Hour)})
	})
	g.ask("what expires", false, func(in rows.Rows) error { return second(in.Expire(g.kind, someTime, 1)) })
}

// many: a range is read if it is all of one's own.
func (g *guarded) many() {
	for index := rows.ByKey; index < len(g.kind.Indexes); index++ {
		lists := owners(g.kind, index) != nil
		for how, ask := range g.scans(index, g.ofMine) {
			g.ask(how+" one's own", lists, ask)
		}
		g.ask("the last of one's own", lists, func(in rows.Rows) error { return second(in.Last(g.kind, index, g.ofMine.From)) })
		g.ask("the last of another's", false, func(in rows.Rows) error { return second(in.Last(g.kind, index, g.ofTheirs.From)) })
		g.ask("the last of all", false, func(in rows.Rows) error { return second(in.Last(g.kind, index, nil)) })
		for what, b := range map[string]rows.Bounds{
			"another's": g.ofTheirs, "all": {}, "what follows": {From: g.ofMine.From}, "across": g.both, "a bit more": {From: g.ofMine.From, To: append(bytes.Clone(g.ofMine.To), 0)},
		} {
			for how, ask := range g.scans(index, b) {
				g.ask(how+" "+what, false, ask)
			}
		}
		if lists {
			continue
		}
		for _, sought := range []struct {
			key  []byte
			lets bool
		}{{keyIn(g.mine, index), true}, {keyIn(g.theirs, index), g.kind.Only != nil}, {[]byte("none"), false}} {
			g.ask("seeking "+string(sought.key), sought.lets, g.scans(index, rows.Only(string(sought.key)))["scanning"])
		}
	}
}

// keyIn is the key that a row has in an index.
func keyIn(r *rows.Row, index int) []byte {
	if index == rows.ByKey {
		return r.Key
	}
	return r.Entries[index].Key
}

// TestGuardKnowsEveryMethod: each method is the guard's own, unless it reads no row.
func TestGuardKnowsEveryMethod(t *testing.T) {
	free := strings.Fields("Changed NewID Next Now Rewritable Sealing")
	kind := reflect.TypeFor[rows.Rows]()
	for i := range kind.NumMethod() {
		name := kind.Method(i).Name
		own, _ := reflect.TypeFor[guard]().MethodByName(name)
		// A promoted method stands in no file of its own.
		if file := fileOf(own); strings.HasSuffix(file, "guard.go") == slices.Contains(free, name) {
			t.Errorf("%s stands in %q", name, file)
		}
	}
}

func fileOf(m reflect.Method) string {
	file, _ := runtime.FuncForPC(m.Func.Pointer()).FileLine(m.Func.Pointer())
	return file
}

// TestOwnersOfAScope: an org's row that a user has a part in is read with the org, and
// written with both; a key is its own; and an endpoint is known from a row of the scope.
func TestOwnersOfAScope(t *testing.T) {
	b := &bounds{t, store.Scope{Orgs: []string{"mine"}, Users: []string{"me"}, Keys: []store.IdempotencyKey{{OrgID: "mine", Key: "k"}}}, map[uint64]bool{}}
	for _, c := range []struct {
		owner         rows.Owner
		reads, writes bool
	}{
		{rows.Owner{}, false, false},
		{rows.Owner{Org: "mine"}, true, true},
		{rows.Owner{Org: "mine", User: "me"}, true, true},
		{rows.Owner{Org: "mine", User: "she"}, true, false},
		{rows.Owner{Org: "hers", User: "me"}, false, false},
		{rows.Owner{User: "she"}, false, false},
		{rows.Owner{Org: "mine", Key: "k"}, true, true},
		{rows.Owner{Org: "mine", Key: "another"}, false, false},
		{rows.Owner{Org: "hers", Number: 6}, false, false},
		{rows.Owner{Number: 6}, false, false},
		{rows.Owner{Number: 7}, false, false},
		{rows.Owner{Org: "mine", Number: 7}, true, true},
		{rows.Owner{Number: 7}, true, true},
	} {
		if reads, writes := b.may(c.owner, false), b.may(c.owner, true); reads != c.reads || writes != c.writes {
			t.Errorf("%+v: reads %t, writes %t", c.owner, reads, writes)
		}
	}
	o, complaints := newOracle(), &complaints{TB: t}
	o.PutMember(store.Member{OrgID: "mine", UserID: "she"})
	tx := scoped(o.Tx, complaints, b.scope)
	if _, err := tx.Member("mine", "she"); err != nil || complaints.n > 0 {
		t.Errorf("reading another member: %v", err)
	}
	if err := tx.PutMember(store.Member{OrgID: "mine", UserID: "she"}); err == nil || complaints.n != 1 {
		t.Errorf("writing another member: %v", err)
	}
}
