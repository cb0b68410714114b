package pgstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// What nodes have among themselves knows neither the store nor its transactions and tables.
// The files are those of the package's comment.
func TestNodesKnowNoTransactions(t *testing.T) {
	_, files, _ := strings.Cut(kit.ReadText(t, "doc.go"), "among themselves is in ")
	files, _, _ = strings.Cut(files, ";")
	names := strings.FieldsFunc(files, func(r rune) bool { return strings.ContainsRune(" ,/\n", r) })
	if len(names) < 9 {
		t.Errorf("the comment names %q", names)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		kit.Must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if star, ok := n.(*ast.StarExpr); ok {
				if id, ok := star.X.(*ast.Ident); ok && slices.Contains([]string{"Store", "tx", "table", "overlay"}, id.Name) {
					t.Errorf("%s names %s", name, id.Name)
				}
			}
			return true
		})
	}
}
