package settings

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"teamdata/internal/hint"
)

// Brand shows the page under an operator's own name, colour and logo. Its zero value is
// teamdata's; each field may be empty.
type Brand struct {
	Name   string // as CheckBrandName allows it
	Colour string // as CheckBrandColour allows it
	Logo   []byte // as CheckBrandLogo allows it
}

// Bounds of a brand.
const (
	maxBrandName = 40       // characters
	maxBrandLogo = 16 << 10 // bytes: a first visit to the page stays small
)

// CheckBrandName checks a name: 1 to 40 characters that can be seen.
func CheckBrandName(name string) error {
	hidden := strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) })
	if n := utf8.RuneCountInString(name); n < 1 || n > maxBrandName || hidden || !utf8.ValidString(name) || strings.TrimSpace(name) != name {
		return hint.New(fmt.Sprintf("%.60q is not a valid name for the page", name), fmt.Sprintf("give 1 to %d characters without spaces around them, such as Acme", maxBrandName))
	}
	return nil
}

var colourForm = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// CheckBrandColour checks a colour: six digits, such as #0a7d5a.
func CheckBrandColour(colour string) error {
	if !colourForm.MatchString(colour) {
		return hint.New(fmt.Sprintf("%.40q is not a colour", colour), "give it as # and six digits, such as #0a7d5a; its lightness is adjusted where text would be hard to read")
	}
	return nil
}

// CheckBrandLogo checks the content of a file: an SVG or PNG image of at most 16 KiB.
func CheckBrandLogo(logo []byte) error {
	if len(logo) > maxBrandLogo {
		return hint.New(fmt.Sprintf("is larger than %d KiB", maxBrandLogo>>10), "give a smaller file: the logo is 22 pixels high")
	}
	if logoExt(logo) == "" {
		return hint.New("is neither an SVG nor a PNG image", "give one of these")
	}
	return nil
}

// logoExt is how the name of a logo's file ends; empty: it is no image of a known kind.
func logoExt(logo []byte) string {
	switch {
	case bytes.HasPrefix(logo, []byte("\x89PNG\r\n\x1a\n")):
		return ".png"
	case isSVG(logo):
		return ".svg"
	}
	return ""
}

// isSVG reports whether a text is well-formed XML whose root is an SVG image.
func isSVG(text []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(text))
	for root := false; ; {
		token, err := d.Token()
		if err != nil {
			return root && errors.Is(err, io.EOF)
		}
		if start, ok := token.(xml.StartElement); ok && !root {
			if root = start.Name.Local == "svg" && start.Name.Space == "http://www.w3.org/2000/svg"; !root {
				return false
			}
		}
	}
}

// css are the tokens of the brand's colour, as the end of the style sheet.
func (b Brand) css() string {
	if b.Colour == "" {
		return ""
	}
	p := paletteOf(parseColour(b.Colour))
	return fmt.Sprintf("\n@layer tokens {\n  /* The brand's colour, as light or dark as its text and surfaces need it. */\n  :root {\n"+
		"    --accent: light-dark(%v, %v);\n    --accent-soft: light-dark(%v, %v);\n    --primary: light-dark(%v, %v);\n    --primary-hover: light-dark(%v, %v);\n  }\n}\n",
		p.accent[light], p.accent[dark], p.soft[light], p.soft[dark], p.primary[light], p.primary[dark], p.hover[light], p.hover[dark])
}

// faviconColour is the ground of the picture in the browser's tab.
func (b Brand) faviconColour() string {
	if b.Colour == "" {
		return "#2459b5"
	}
	return paletteOf(parseColour(b.Colour)).primary[light].String()
}
