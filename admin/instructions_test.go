package admin

import (
	"strings"
	"sync"
	"testing"

	"teamdata/store"
)

const instructions = "/orgs/org_acme/instructions"

// What somebody else changed meanwhile stays.
func TestInstructionsThatTwoEdit(t *testing.T) {
	env := newTestEnv(t)
	read := env.do("GET", instructions, "").Header.Get("ETag")
	mine := env.do("PUT", instructions, `{"instructions":"Mine."}`, "If-Match", read)
	env.wantAnswer(mine, 200, `{"instructions":"Mine.","updatedAt":`+at+`}`)
	equal(t, "the answer's ETag", mine.Header.Get("ETag"), env.do("GET", instructions, "").Header.Get("ETag"))
	before := env.everything()
	env.wantError(env.do("PUT", instructions, `{"instructions":"Theirs."}`, "If-Match", read), store.CodePreconditionFailed, "")
	env.wantError(env.do("DELETE", instructions, "", "If-Match", read), store.CodePreconditionFailed, "")
	equal(t, "everything", env.everything(), before)
	env.wantAnswer(env.do("DELETE", instructions, "", "If-Match", mine.Header.Get("ETag")), 204, "")
	env.wantAnswer(env.do("GET", instructions, ""), 200, `{"instructions":null,"updatedAt":`+at+`}`)
}

func TestIfMatch(t *testing.T) {
	env := newTestEnv(t)
	env.Advance(1e6)
	for _, row := range []struct {
		values string // with | between headers, and E for the ETag
		status int
	}{
		{"*", 200}, {" * ", 200}, {"E", 200}, {`"x", E`, 200}, {`"x" ,,E,`, 200}, {`"x"|E`, 200}, {`"a,b",E`, 200}, {`"",E`, 200}, {`W/"x",E`, 200},
		{`"x"`, 412}, {"W/E", 412}, {`"x","y"`, 412}, {`""`, 412}, {`"*"`, 412},
		{"", 400}, {",", 400}, {"x", 400}, {`"x`, 400}, {`"x""y"`, 400}, {`"x" "y"`, 400}, {`"x",*`, 400}, {`w/"x"`, 400}, {`W/ "x"`, 400}, {`*,*`, 400},
	} {
		etag := env.do("GET", instructions, "").Header.Get("ETag")
		var header []string
		for value := range strings.SplitSeq(strings.ReplaceAll(row.values, "E", etag), "|") {
			header = append(header, "If-Match", value)
		}
		got := env.do("PUT", instructions, `{"instructions":"`+long(len(row.values))+`"}`, header...)
		equal(t, row.values, got.Status, row.status)
	}
}

// Of many who edit the same state, one wins.
func TestOneEditorWins(t *testing.T) {
	env := newTestEnv(t)
	etag := env.do("GET", instructions, "").Header.Get("ETag")
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 8 {
		all.Go(func() {
			got := env.do("PUT", instructions, `{"instructions":"`+long(i)+`"}`, "If-Match", etag)
			mu.Lock()
			defer mu.Unlock()
			statuses[got.Status]++
		})
	}
	all.Wait()
	if statuses[200] != 1 || statuses[412] != 7 {
		t.Error(statuses)
	}
}
