// Package look is how all pages look: the settings, the reference and the guides share
// one style sheet and one font. It imports nothing of the module.
package look

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

// CSS is the style sheet, which loads the font as inter.woff2, from beside it.
//
//go:embed look.css
var CSS string

// FontName is how the style sheet calls the font.
const FontName = "inter.woff2"

// Font is Inter in WOFF2, and FontLicence the text of its licence.
//
//go:embed inter.woff2
var Font []byte

//go:embed inter-OFL.txt
var FontLicence []byte

// jsonText finds the texts of JSON, and the names among them by their colons.
var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"( ?:)?`)

// JSON is JSON with its names and texts marked, for the class code. Any other text is
// escaped.
func JSON(text string) template.HTML {
	var marked strings.Builder
	end := 0
	for _, at := range jsonText.FindAllStringSubmatchIndex(text, -1) {
		class, close := "s", at[1]
		if at[2] >= 0 {
			class, close = "k", at[2]
		}
		marked.WriteString(template.HTMLEscapeString(text[end:at[0]]))
		marked.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(text[at[0]:close]) + `</span>`)
		end = close
	}
	return template.HTML(marked.String() + template.HTMLEscapeString(text[end:]))
}
