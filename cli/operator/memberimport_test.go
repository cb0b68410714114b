package operator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Files as spreadsheets and databases write them are read; what is no text in UTF-8 is
// refused where it is.
func TestReadPeople(t *testing.T) {
	const ada = `map[name:Ada role:owner userId:usr_ada]`
	for name, test := range map[string]struct{ file, want string }{
		"plain":             {"userId,role,name\nusr_ada,owner,Ada\n", ada},
		"Windows":           {"\ufeffuserId,role,name\r\nusr_ada,owner,Ada\r\n", ada},
		"all in quotes":     {"\ufeff\"userId\",\"role\",\"name\"\r\n\"usr_ada\",\"owner\",\"Ada\"", ada},
		"empty lines":       {"userId,role,name\n\nusr_ada,owner,Ada\n\n", ada},
		"Excel's":           {"sep=,\r\nuserId,role,name\r\nusr_ada,owner,Ada\r\n", ada},
		"Excel's, wrong":    {"sep=,\r\nuserId,role,name\r\nusr_ada,,Ada\r\n", "people.csv line 3, column 2 (role): is missing"},
		"lines of commas":   {"userId,role,name\n,,\nusr_ada,owner,Ada\n,,\n,,\n", ada},
		"tabs":              {"userId\trole\tname\nusr_ada\towner\tAda\n", "people.csv line 1, column 1: the columns are separated by tabs"},
		"semicolons":        {"sep=;\nuserId;role\nusr_ada;owner\n", "people.csv line 1, column 1: the columns are separated by semicolons"},
		"old Macs":          {"userId,role,name\rusr_ada,owner,Ada\r", "people.csv ends its lines with CR alone"},
		"UTF-16":            {"\xff\xfeu\x00s\x00", "people.csv is UTF-16"},
		"UTF-16, the other": {"\xfe\xff\x00u\x00s", "people.csv is UTF-16"},
		"Latin-1":           {"userId,role,name\nusr_zoe,member,Zo\xeb\n", "people.csv line 2, column 3 (name): is not valid UTF-8"},
		"a role that looks": {"userId,role\nusr_ada,Admin\n", `people.csv line 2, column 2 (role): "Admin" looks like the role admin but is not; did you mean admin?`},
		"a mark alone":      {"\ufeff", "people.csv is empty"},
		"nothing":           {"", "people.csv is empty"},
		"a column twice":    {"userId,role,User ID\n", "people.csv line 1, column 3: userId appears twice, first in column 1"},
	} {
		p, err := readPeople("people.csv", strings.NewReader(test.file))
		got := fmt.Sprint(err)
		switch {
		case err == nil && len(p.wrong) > 0:
			got = p.wrong[0].Error()
		case err == nil:
			got = ""
			err = p.each(func(of person) error { got += fmt.Sprint(p.fields(of)); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		if got != test.want && (test.want == ada || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// A user who is twice in a file is named by both lines, wherever they are; a user of a line
// that is wrong for something else is not named again.
func TestPeopleTwice(t *testing.T) {
	users := make([]string, 3000)
	for i := range users {
		users[i] = fmt.Sprintf("usr_%d,member", i)
	}
	rand.Shuffle(len(users), func(i, k int) { users[i], users[k] = users[k], users[i] })
	users[100], users[2000], users[2500], users[2999] = users[7], "usr_7000,", "usr_7000,member", "usr_7000,"
	p, err := readPeople("people.csv", strings.NewReader("userId,role\n"+strings.Join(users, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	user, _, _ := strings.Cut(users[7], ",")
	want := []string{
		"people.csv line 102, column 1 (userId): " + user + " is on line 9 already",
		"people.csv line 2002, column 2 (role): is missing or empty",
		"people.csv line 2502, column 1 (userId): usr_7000 is on line 2002 already",
		"people.csv line 3001, column 2 (role): is missing or empty",
	}
	var got []string
	for _, wrong := range p.wrong {
		got = append(got, wrong.Error())
	}
	if !slices.Equal(got, want) || p.errors != len(want) {
		t.Errorf("%d errors: %s", p.errors, strings.Join(got, "\n"))
	}
}

// However long a file is, what is kept of a line is a few bytes.
func TestPeopleTakeNoMemory(t *testing.T) {
	const lines = 100_000
	var file strings.Builder
	file.WriteString("userId,role,name,email\n")
	for i := range lines {
		fmt.Fprintf(&file, "usr_%d,member,Somebody of that name,somebody%d@acme.example\n", i, i)
	}
	text := file.String()
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	p, err := readPeople("people.csv", strings.NewReader(text))
	if err != nil || p.members != lines || p.errors > 0 {
		t.Fatal(p, err)
	}
	if after := used(); after > before+10*lines {
		t.Errorf("of %d lines it keeps %d bytes", lines, after-before)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(text)
}
