package settings

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"sync"
)

// iconFile holds the symbols of all icons, and the pattern of hatched marks.
//
//go:embed templates/icons.svg
var iconFile []byte

// iconSymbols are the symbols by name, such as send.
var iconSymbols = sync.OnceValue(func() map[string][]byte {
	found := map[string][]byte{}
	for _, m := range regexp.MustCompile(`<(?:symbol|pattern) id="(?:i-)?(\w+)".*`).FindAllSubmatch(iconFile, -1) {
		found[string(m[1])] = m[0]
	}
	return found
})

// icon shows a symbol of icons.svg, by its name.
func icon(name string) (template.HTML, error) {
	if iconSymbols()[name] == nil {
		return "", fmt.Errorf("icons.svg has no symbol %q", name)
	}
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="#i-` + name + `"/></svg>`), nil
}

// references begin what a page shows by reference. Text of people never looks so: it is
// escaped.
var references = [][]byte{[]byte(`<use href="#i-`), []byte(`="url(#`)}

// sprite holds the symbols that a page or a part of one uses, each of them once.
func sprite(page []byte) []byte {
	var names []string
	for _, opening := range references {
		for _, after := range bytes.Split(page, opening)[1:] {
			if end := bytes.IndexAny(after, `")`); end > 0 {
				names = append(names, string(after[:end]))
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	var all bytes.Buffer
	all.WriteString(`<svg class="sprite" aria-hidden="true">`)
	for _, name := range slices.Compact(names) {
		all.Write(iconSymbols()[name])
	}
	all.WriteString("</svg>\n")
	return all.Bytes()
}
