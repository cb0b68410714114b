package openapi

import (
	"fmt"
	"strings"
	"testing"

	"teamdata/store"
)

// Many types make a bounded document.
func TestOwnEventTypesAreBounded(t *testing.T) {
	d, _ := Of("2026-10-06")
	deep := strings.Repeat("[", 60) + strings.Repeat("0,", 30<<10) + "0" + strings.Repeat("]", 60)
	types := make([]store.EventType, 32)
	for i := range types {
		types[i] = store.EventType{Name: fmt.Sprintf("a.b%d", i), Schema: []byte(`{"default":` + deep + `}`)}
	}
	if with, err := With(d, types); err != nil || len(with.YAML) > 4*maxOwn {
		t.Errorf("deep lists make %d bytes, %v", len(with.YAML), err)
	}
	many := make([]store.EventType, 100_000)
	for i := range many {
		many[i] = store.EventType{Name: fmt.Sprintf("a.b%d", i)}
	}
	with, err := With(d, many)
	if err != nil || len(with.JSON) > 4*maxOwn || len(with.YAML) > 4*maxOwn || len(with.JSON) < maxOwn/4 {
		t.Errorf("%d and %d bytes, %v", len(with.JSON), len(with.YAML), err)
	}
}
