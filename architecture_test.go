package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// mayImport says which packages of this module and of others a package's code
// may import, beside the standard library. A folder's rule holds for what is
// below it that has no rule of its own.
var mayImport = map[string][]string{
	".":           {"teamdata/cli"},
	"app":         {"teamdata/admin", "teamdata/admin/settings", "teamdata/admin/socket", "teamdata/app/metrics", "teamdata/delivery", "teamdata/delivery/", "teamdata/internal/", "teamdata/server", "teamdata/server/", "teamdata/store", "teamdata/store/", "teamdata/wire/fixture", "teamdata/wire/web", "github.com/coreos/go-systemd/v22/activation", "github.com/coreos/go-systemd/v22/daemon", "github.com/rs/zerolog", "github.com/spf13/pflag"},
	"app/metrics": {"teamdata/store", "github.com/prometheus/client_golang/prometheus"},

	"cli":          {"teamdata/admin/socket", "teamdata/app", "teamdata/cli/", "teamdata/client", "teamdata/delivery/receiver", "teamdata/internal/", "teamdata/server", "teamdata/store", "teamdata/wire/fixture", "teamdata/wire/strictjson", "github.com/rs/zerolog", "github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cli/listen":   {"teamdata/app", "teamdata/client", "teamdata/delivery/receiver", "teamdata/internal/", "github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cli/bench":    {"teamdata/store", "teamdata/internal/"},
	"cli/doctor":   {"teamdata/admin/socket", "teamdata/app", "teamdata/delivery/mail", "teamdata/internal/", "teamdata/server", "teamdata/server/certificates", "teamdata/server/clientaddr", "teamdata/store", "github.com/rs/zerolog", "github.com/spf13/pflag"},
	"cli/operator": {"teamdata/client", "teamdata/client/admin/api", "teamdata/store", "teamdata/internal/atomicfile", "teamdata/internal/canonical", "teamdata/internal/hint", "teamdata/internal/httpclient", "teamdata/internal/system", "teamdata/internal/terminal", "github.com/spf13/cobra", "github.com/spf13/pflag"},

	"server":              {"teamdata/client/api", "teamdata/store", "teamdata/internal/", "teamdata/server/", "teamdata/wire/look", "teamdata/wire/openapi", "teamdata/wire/reference", "teamdata/wire/strictjson", "teamdata/wire/web", "github.com/julienschmidt/httprouter", "github.com/pires/go-proxyproto", "github.com/rs/zerolog"},
	"server/certificates": {"teamdata/store", "teamdata/internal/canonical", "teamdata/internal/hint", "teamdata/internal/localca", "teamdata/internal/smallfile", "golang.org/x/crypto/acme", "golang.org/x/crypto/acme/autocert", "github.com/rs/zerolog"},
	"server/clientaddr":   {"teamdata/internal/hint"},
	"server/cork":         {},
	"server/mcp":          {"teamdata/internal/canonical", "teamdata/store"},

	"admin":                          {"teamdata/store", "teamdata/internal/", "teamdata/admin/", "teamdata/client/admin/api", "teamdata/wire/eventtype", "teamdata/wire/look", "teamdata/wire/openapi", "teamdata/wire/reference", "teamdata/wire/strictjson", "teamdata/wire/web", "github.com/julienschmidt/httprouter", "github.com/rs/zerolog"},
	"admin/settings":                 {"teamdata/docs", "teamdata/store", "teamdata/internal/", "teamdata/admin/settings/", "teamdata/wire/eventtype", "teamdata/wire/look", "teamdata/wire/web", "github.com/julienschmidt/httprouter", "github.com/rs/zerolog"},
	"admin/settings/diagnose":        {"teamdata/internal/signature"},
	"admin/settings/signin":          {"teamdata/admin/settings/signin/password", "teamdata/internal/ratelimit", "teamdata/store", "teamdata/wire/web", "github.com/go-webauthn/webauthn", "github.com/rs/zerolog"},
	"admin/settings/signin/password": {"golang.org/x/crypto/argon2", "golang.org/x/text/secure/precis"},
	"admin/socket":                   {"teamdata/internal/hint"},

	"delivery":          {"teamdata/store", "teamdata/internal/", "teamdata/delivery/", "github.com/rs/zerolog"},
	"delivery/egress":   {"teamdata/internal/canonical", "teamdata/internal/netguard", "github.com/rs/zerolog"},
	"delivery/mail":     {"teamdata/internal/canonical", "teamdata/internal/netguard", "teamdata/store", "github.com/wneessen/go-mail"},
	"delivery/receiver": {"teamdata/internal/canonical", "teamdata/internal/hint", "teamdata/internal/httpclient", "teamdata/internal/terminal", "github.com/standard-webhooks/standard-webhooks/libraries/go"},
	"delivery/wheel":    {},

	"wire/eventtype":  {"teamdata/internal/schema", "teamdata/store", "teamdata/wire/reference"},
	"wire/fixture":    {"teamdata/internal/hint", "teamdata/internal/schema", "teamdata/store", "teamdata/wire/eventtype", "teamdata/wire/strictjson"},
	"wire/look":       {},
	"wire/openapi":    {"teamdata/store", "teamdata/wire/eventtype", "teamdata/wire/reference"},
	"wire/reference":  {"teamdata/docs", "teamdata/store", "teamdata/wire/look", "teamdata/wire/web"},
	"wire/strictjson": {"teamdata/internal/canonical", "teamdata/store", "github.com/go-json-experiment/json/jsontext"},
	"wire/web":        {"teamdata/internal/hint", "teamdata/store", "github.com/julienschmidt/httprouter", "github.com/rs/zerolog"},

	"store":                    {"teamdata/internal/canonical", "teamdata/internal/ratelimit", "teamdata/store/rows", "github.com/go-json-experiment/json/jsontext", "golang.org/x/text/unicode/norm"},
	"store/boltstore":          {"teamdata/internal/hint", "teamdata/store", "teamdata/store/boltstore/boltfile", "teamdata/store/engine", "teamdata/store/rows", "go.etcd.io/bbolt"},
	"store/boltstore/boltfile": {"teamdata/internal/atomicfile", "teamdata/internal/system", "go.etcd.io/bbolt"},
	"store/engine":             {"teamdata/store", "teamdata/store/rows"},
	"store/pgstore":            {"teamdata/internal/hint", "teamdata/internal/ratelimit", "teamdata/internal/system", "teamdata/store", "teamdata/store/engine", "teamdata/store/rows", "github.com/jackc/pgx/v5"},
	"store/rows":               {},
	"store/rows/rowstest":      {"teamdata/store/rows"},
	"store/seal":               {"teamdata/internal/hint"},
	"store/storetest":          {"teamdata/internal/ratelimit", "teamdata/store", "teamdata/store/rows", "teamdata/store/rows/rowstest"},

	"internal/atomicfile": {"teamdata/internal/hint", "teamdata/internal/system"},
	"internal/canonical":  {"golang.org/x/net/idna"},
	"internal/hint":       {},
	"internal/httpclient": {"teamdata/internal/hint", "teamdata/internal/smallfile"},
	"internal/localca":    {"teamdata/internal/canonical"},
	"internal/memory":     {},
	"internal/netguard":   {"code.dny.dev/ssrf"},
	"internal/ratelimit":  {},
	"internal/schema":     {"teamdata/internal/canonical"},
	"internal/signature":  {"teamdata/internal/hint"},
	"internal/smallfile":  {},
	"internal/system":     {"golang.org/x/sys/unix"},
	"internal/terminal":   {"teamdata/internal/hint", "github.com/mattn/go-isatty", "github.com/mattn/go-runewidth", "golang.org/x/sys/unix"},

	"e2e/kit":          {"teamdata/store"},
	"e2e/kit/contract": {"teamdata/internal/schema"},
	"e2e/kit/engines":  {"teamdata/e2e/kit/postgres", "teamdata/store", "teamdata/store/boltstore", "teamdata/store/pgstore"},
	"e2e/kit/orgs":     {"teamdata/e2e/kit", "teamdata/store"},
	"e2e/kit/issuer":   {"teamdata/e2e/kit"},
	"e2e/kit/pebble":   {"teamdata/e2e/kit", "github.com/letsencrypt/pebble/v2", "github.com/miekg/dns"},
	"e2e/kit/postbox":  {"github.com/emersion/go-sasl", "github.com/emersion/go-smtp"},
	"e2e/kit/postgres": {"teamdata/e2e/kit", "teamdata/internal/localca", "teamdata/internal/system", "github.com/jackc/pgx/v5"},
	"e2e/kit/load":     {"teamdata/delivery", "teamdata/e2e/kit", "teamdata/e2e/kit/program", "teamdata/store", "github.com/standard-webhooks/standard-webhooks/libraries/go"},
	"e2e/kit/program":  {"teamdata/admin/socket", "teamdata/e2e/kit", "teamdata/e2e/kit/", "teamdata/internal/localca", "teamdata/server", "teamdata/store", "teamdata/store/boltstore", "teamdata/store/boltstore/boltfile", "teamdata/store/pgstore", "github.com/prometheus", "go.etcd.io/bbolt", "golang.org/x/sys/unix"},
	"e2e/kit/referee":  {"teamdata/e2e/kit/contract", "github.com/santhosh-tekuri/jsonschema/v6"},
	"e2e/kit/site":     {"teamdata/e2e/kit", "teamdata/store/boltstore", "github.com/rs/zerolog"},

	"client":           {"teamdata/client/api"},
	"client/admin":     {"teamdata/client", "teamdata/client/admin/api"},
	"client/admin/api": {},
	"client/api":       {},

	"wire/generate": {"github.com/go-json-experiment/json/jsontext", "github.com/oasdiff/yaml3"},

	"teamdatatest": {"teamdata/admin/socket", "teamdata/app", "teamdata/client", "teamdata/delivery/receiver", "teamdata/e2e/kit/postbox", "teamdata/internal/", "teamdata/store", "teamdata/wire/fixture", "github.com/rs/zerolog", "github.com/standard-webhooks/standard-webhooks/libraries/go"},

	"docs": {},

	"contrib/ingest": {"teamdata/client", "teamdata/client/"},
}

// rooms are the folders at the top that make the program, each row above those that it may
// import. The rooms of a row never import one another, whatever mayImport says.
var rooms = [][]string{{"."}, {"cli"}, {"app"}, {"server", "admin", "delivery"}, {"wire"}, {"store"}, {"internal"}}

// rowOf returns the room of a folder and its row; -1: it is none of the program's.
func rowOf(folder string) (room string, row int) {
	room, _, _ = strings.Cut(folder, "/")
	return room, slices.IndexFunc(rooms, func(row []string) bool { return slices.Contains(row, room) })
}

func TestArrows(t *testing.T) {
	for folder, imports := range imports(t, false) {
		allowed, ok := mayImport[folder]
		if !ok {
			t.Errorf("%s has no rule in mayImport", folder)
		}
		for _, name := range imports {
			if !permitted(name, allowed) {
				t.Errorf("%s imports %s, which its rule does not allow", folder, name)
			}
			from, row := rowOf(folder)
			if to, below := rowOf(strings.TrimPrefix(name, "teamdata/")); row >= 0 && below >= 0 && below <= row && to != from {
				t.Errorf("%s imports %s, which is not below %s", folder, name, from)
			}
		}
	}
}

func permitted(name string, allowed []string) bool {
	first, _, _ := strings.Cut(name, "/")
	standard := !strings.Contains(first, ".") && first != "teamdata"
	return standard || slices.ContainsFunc(allowed, func(rule string) bool {
		return rule == "*" || name == rule || strings.HasPrefix(name, strings.TrimSuffix(rule, "/")+"/") &&
			(strings.HasSuffix(rule, "/") || !strings.HasPrefix(rule, "teamdata/"))
	})
}

// forTestsBelowE2E are modules that are large, or bring many others.
var forTestsBelowE2E = []string{
	"github.com/chromedp", "github.com/getkin/kin-openapi", "github.com/letsencrypt/pebble", "github.com/miekg/dns",
	"github.com/modelcontextprotocol/go-sdk", "github.com/oasdiff", "github.com/santhosh-tekuri/jsonschema",
}

// A module that imports teamdatatest in its tests fetches what the tests of each package
// import that teamdatatest imports: `go mod tidy` looks at those, too.
func TestWhatUsersOfTeamdatatestFetch(t *testing.T) {
	code, tests := imports(t, false), imports(t, true)
	for name := range reached(code, "teamdata/teamdatatest") {
		folder, ours := strings.CutPrefix(name, "teamdata/")
		if !ours { // whose tests are on their way below e2e
			continue
		}
		for imported := range reached(code, tests[folder]...) {
			if slices.ContainsFunc(forTestsBelowE2E, func(heavy string) bool { return strings.HasPrefix(imported, heavy) }) {
				t.Errorf("a test of %s imports %s, itself or by a package for tests: whoever tests with teamdatatest would fetch that. Such a test belongs below e2e", folder, imported)
			}
		}
	}
}

// reached are packages, with all that they import.
func reached(code map[string][]string, names ...string) map[string]bool {
	all := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		if names = names[1:]; !all[name] {
			all[name] = true
			names = append(slices.Clip(names), code[strings.TrimPrefix(name, "teamdata/")]...)
		}
	}
	return all
}

// imports are what the code of each folder imports, or its tests.
func imports(t *testing.T, tests bool) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	_, module, _ := strings.Cut(readPage(t, "go.mod"), "module ")
	module, _, _ = strings.Cut(module, "\n")
	eachFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") != tests {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.ToSlash(filepath.Dir(file))
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if rest, ours := strings.CutPrefix(name, module); ours && (rest == "" || rest[0] == '/') {
				name = "teamdata" + rest // as in mayImport, however the module is called
			}
			found[folder] = append(found[folder], name)
		}
	})
	return found
}

// Every package says what it is for, in one place.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	eachFile(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		comments[path.Dir(filepath.ToSlash(file))] += 0
		if f.Doc != nil {
			comments[path.Dir(filepath.ToSlash(file))]++
		}
	})
	for folder, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments", folder, n)
		}
	}
}

// No package but store exports more names than a reader keeps in mind, unless its
// comment gives a reason: "It exports more than 40 names because …".
func TestExports(t *testing.T) {
	const most = 40
	exports, reasons := map[string]int{}, map[string]bool{"store": true}
	eachFile(t, func(file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(filepath.ToSlash(file))
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(folder, "contrib/") {
			return
		}
		exports[folder] += len(exported(f))
		words := strings.Join(strings.Fields(f.Doc.Text()), " ")
		reasons[folder] = reasons[folder] || strings.Contains(words, "exports more than 40 names because")
	})
	if exports["store"] <= most {
		t.Errorf("store exports %d names, so the count is wrong", exports["store"])
	}
	for folder, n := range exports {
		if n > most && !reasons[folder] {
			t.Errorf("%s exports %d names, more than %d, without a reason in its comment", folder, n, most)
		}
	}
}

// exported are the names that a file exports, without methods and fields.
func exported(f *ast.File) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					add(spec.Names...)
				}
			}
		}
	}
	return names
}

func eachFile(t *testing.T, fn func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if strings.HasSuffix(file, ".go") {
			fn(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	return kit.ReadText(t, file)
}
