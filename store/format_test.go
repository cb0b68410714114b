package store_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

var update = flag.Bool("update", false, "write the fields of the records into the docs")

// kindsOfFields are the codec's methods with the kind of field that each codes, as the
// documentation calls it.
var kindsOfFields = map[string]string{
	"Number": "number", "Int": "number", "Small": "number", "After": "number", "Text": "text", "Bytes": "bytes", "Hash": "hash",
	"Time": "time", "Flag": "flag", "Texts": "texts", "Pairs": "records", "List": "records",
}

// source is what the package of the records declares.
type source struct {
	structs map[string]*ast.StructType
	funcs   map[string]*ast.FuncDecl
	tables  map[string]*ast.FuncLit // by bucket: what codes the fields of a record
}

// The tables in docs/format.md have the fields of each record: their names and kinds as they
// are coded, and the comments of the structs.
func TestFieldsInDocs(t *testing.T) {
	const page = "../docs/format.md"
	s, text := readRecords(t), kit.ReadText(t, page)
	sections := strings.Split(text, "\n### `")
	for i, section := range sections[1:] {
		bucket, _, _ := strings.Cut(section, "`")
		fields := s.tables[bucket]
		if fields == nil {
			continue
		}
		if tables := s.tablesOf(fields.Type, fields.Body, ""); tables[0] != "" { // or else the value is no record
			sections[i+1] = tableOfFields.ReplaceAllStringFunc(section, func(old string) string {
				if len(tables) == 0 {
					return old
				}
				table := tables[0]
				tables = tables[1:]
				return tableHead + table
			})
			if len(tables) > 0 {
				t.Errorf("%s: the section %s lacks a table that begins with %q", page, bucket, tableHead)
			}
		}
	}
	want := strings.Join(sections, "\n### `")
	if *update {
		kit.Must(t, os.WriteFile(page, []byte(want), 0o644))
	} else if text != want {
		t.Errorf("%s is stale: go generate ./...", page)
	}
}

const tableHead = "| field | kind | |\n|---|---|---|\n"

var tableOfFields = regexp.MustCompile(regexp.QuoteMeta(tableHead) + `(?:\|.*\n)*`)

func readRecords(t *testing.T) source {
	t.Helper()
	s := source{map[string]*ast.StructType{}, map[string]*ast.FuncDecl{}, map[string]*ast.FuncLit{}}
	files, err := filepath.Glob("*.go")
	kit.Must(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		kit.Must(t, err)
		ast.Inspect(file, s.declare)
	}
	return s
}

// declare takes note of what a node declares.
func (s source) declare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.TypeSpec:
		if t, ok := n.Type.(*ast.StructType); ok {
			s.structs[n.Name.Name] = t
		}
	case *ast.FuncDecl:
		s.funcs[n.Name.Name] = n
	case *ast.CompositeLit:
		if kind, ok := valueOf(n, "Kind").(*ast.CompositeLit); ok {
			name, named := valueOf(kind, "Name").(*ast.BasicLit)
			fields, coded := valueOf(n, "Fields").(*ast.FuncLit)
			if named && coded {
				s.tables[strings.Trim(name.Value, `"`)] = fields
			}
		}
	}
	return true
}

// valueOf is the value of a key in a literal; nil: it has none.
func valueOf(literal *ast.CompositeLit, key string) ast.Expr {
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == key {
				return pair.Value
			}
		}
	}
	return nil
}

// tablesOf are the rows of the fields that a function codes, each name after a prefix, and
// those of the records inside them.
func (s source) tablesOf(signature *ast.FuncType, body *ast.BlockStmt, prefix string) []string {
	tables := []string{""}
	record := typeName(signature.Params.List[1].Type)
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		names := pathOf(call.Args[len(call.Args)-1])
		method, _ := call.Fun.(*ast.SelectorExpr)
		var function *ast.FuncDecl
		if name, ok := call.Fun.(*ast.Ident); ok {
			function = s.funcs[name.Name]
		}
		switch {
		case method != nil && !isOfCodec(method):
		case method != nil && method.Sel.Name == "List":
			inner := s.funcs[innerOf(call).Name]
			tables[0] += s.row(record, pathOf(call.Args[1]), prefix, "List")
			tables = append(tables, s.tablesOf(inner.Type, inner.Body, "")...)
			return false
		case method != nil && kindsOfFields[method.Sel.Name] != "":
			tables[0] += s.row(record, names, prefix, method.Sel.Name)
			if method.Sel.Name == "Pairs" {
				tables = append(tables, "| name | text | |\n| value | text | |\n")
			}
		case function != nil && len(call.Args) == 2:
			if len(names) == 1 && s.field(record, names[0]) == nil {
				names = nil // it is embedded
			}
			inner := s.tablesOf(function.Type, function.Body, prefix+shownPath(names))
			tables[0] += inner[0]
			tables = append(tables, inner[1:]...)
			return false
		}
		return true
	})
	return tables
}

// isOfCodec reports whether a method is one of the codec, which is called c, or one of the
// functions that take it.
func isOfCodec(method *ast.SelectorExpr) bool {
	of, ok := method.X.(*ast.Ident)
	return ok && (of.Name == "c" || method.Sel.Name == "Small" || method.Sel.Name == "List")
}

// row is a field as a row of a table. Only readers of the code are to see what its comment
// refers to.
func (s source) row(record string, names []string, prefix, method string) string {
	note := ""
	for _, name := range names {
		if f := s.field(record, name); f != nil {
			note, record = f.Comment.Text(), typeName(f.Type)
		}
	}
	note, _, _ = strings.Cut(strings.TrimSpace(note), "; see ")
	return strings.ReplaceAll("| "+strings.TrimSuffix(prefix+shownPath(names), ".")+" | "+kindsOfFields[method]+" | "+note+" |\n", "|  |", "| |")
}

// field finds a field of a struct, or of one that is embedded in it.
func (s source) field(record, name string) *ast.Field {
	declared := s.structs[record]
	if declared == nil {
		return nil
	}
	for _, f := range declared.Fields.List {
		for _, n := range f.Names {
			if n.Name == name {
				return f
			}
		}
		if f.Names == nil {
			if found := s.field(typeName(f.Type), name); found != nil {
				return found
			}
		}
	}
	return nil
}

func typeName(e ast.Expr) string {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// pathOf are the fields by which an expression leads into a record, such as Subscription
// and ID of &o.Subscription.ID.
func pathOf(e ast.Expr) (names []string) {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return pathOf(e.X)
	case *ast.CallExpr: // a conversion
		return pathOf(e.Args[0])
	case *ast.SelectorExpr:
		return append(pathOf(e.X), e.Sel.Name)
	}
	return nil
}

// innerOf is the function that codes the records in a list: rows.Inner takes it second.
func innerOf(list *ast.CallExpr) (function *ast.Ident) {
	ast.Inspect(list.Args[2], func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 3 {
			function, _ = call.Args[1].(*ast.Ident)
		}
		return true
	})
	return function
}

var startOfName = regexp.MustCompile(`^[A-Z]+$|^[A-Z]`)

// shownPath is a path as JSON would have it, such as subscription.id., or nothing.
func shownPath(names []string) (shown string) {
	for _, name := range names {
		name = startOfName.ReplaceAllStringFunc(strings.ReplaceAll(name, "ID", "Id"), strings.ToLower)
		shown += strings.Replace(name, "Id", "id", map[bool]int{true: 1}[name == "Id"]) + "."
	}
	return shown
}
