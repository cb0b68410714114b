package operator

import (
	"fmt"
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
		"UTF-16":            {"\xff\xfeu\x00s\x00", "people.csv is UTF-16"},
		"UTF-16, the other": {"\xfe\xff\x00u\x00s", "people.csv is UTF-16"},
		"Latin-1":           {"userId,role,name\nusr_zoe,member,Zo\xeb\n", "people.csv line 2, column 3 (name): is not valid UTF-8"},
		"a mark alone":      {"\ufeff", "people.csv is empty"},
		"nothing":           {"", "people.csv is empty"},
		"a column twice":    {"userId,role,User ID\n", "people.csv line 1, column 3: userId is there twice, first in column 1"},
	} {
		p, err := readPeople("people.csv", strings.NewReader(test.file))
		got := fmt.Sprint(err)
		switch {
		case err == nil && len(p.wrong) > 0:
			got = p.wrong[0].Error()
		case err == nil:
			got = fmt.Sprint(p.fields(p.members[0]))
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
