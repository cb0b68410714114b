package reference

import (
	"fmt"
	"testing"
)

// What a part has beside the page's own is added once, and what it says otherwise stands
// beside what the page says.
func TestPartAddsWhatThePageLacks(t *testing.T) {
	p := shownPage{
		Headers: []field{{Name: "Allow", Text: "own"}},
		Errors:  []failure{{Code: "notFound", Text: "No path."}, {Code: "internal", Text: "A fault."}},
	}
	for range 2 {
		p.addHeaders([]field{{Name: "Allow", Text: "other"}, {Name: "Age"}})
	}
	p.addErrors("One", []failure{{Code: "notFound", Text: "No lease."}, {Code: "internal", Text: "A fault."}, {Code: "gone", Text: "Gone."}})
	p.addErrors("Two", []failure{{Code: "gone", Text: "Away."}})
	if got := fmt.Sprint(p.Headers); got != "[{Allow  false own} {Age  false }]" {
		t.Errorf("the headers are %s", got)
	}
	want := "[{notFound   No path. [{One No lease.}]} {internal   A fault. []} {gone   Gone. [{Two Away.}]}]"
	if got := fmt.Sprint(p.Errors); got != want {
		t.Errorf("the errors are %s, want %s", got, want)
	}
}

// A part whose document can't be read makes no reference.
func TestPartThatIsNoDocument(t *testing.T) {
	own := Document{JSON: []byte(`{"servers":[{"url":"/"}],"security":[{"apiKey":[]}]}`)}
	if _, err := New(own, Links{}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(own, Links{}, Part{Document: Document{JSON: []byte("{")}}); err == nil {
		t.Error("there is one")
	}
}
