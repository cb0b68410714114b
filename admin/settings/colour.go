package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// colour is one of the sRGB space, red, green, blue from 0 to 255.
type colour [3]uint8

func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// parseColour reads a colour of the form #0a7d5a, which was checked.
func parseColour(text string) (c colour) {
	n, _ := strconv.ParseUint(text[1:], 16, 32)
	return colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}
}

// luminance is the relative luminance of WCAG 2, from 0 to 1.
func (c colour) luminance() float64 {
	channel := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	return 0.2126*channel(c[0]) + 0.7152*channel(c[1]) + 0.0722*channel(c[2])
}

// contrast is the contrast ratio of WCAG 2, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix blends c with a part of another colour, from 0 to 1.
func (c colour) mix(other colour, part float64) (mixed colour) {
	for i := range c {
		mixed[i] = uint8(math.Round(float64(c[i])*(1-part) + float64(other[i])*part))
	}
	return mixed
}

// mixUntil mixes c with another, as little as it takes for the contrast to each of some
// colours to be at least least; with all of it if nothing less does.
func (c colour) mixUntil(other colour, least float64, to ...colour) colour {
	for part := 0.0; part < 1; part += 0.01 {
		mixed, holds := c.mix(other, part), true
		for _, t := range to {
			holds = holds && contrast(mixed, t) >= least
		}
		if holds {
			return mixed
		}
	}
	return other
}

// The two themes, as light-dark() has them.
const (
	light = iota
	dark
)

// What a brand's colours meet: the tokens of look.css.
var (
	white, black = colour{255, 255, 255}, colour{}
	surfaces     = [2][]colour{ // --page first, --side, --sunken, --hover, --warn-soft, --bad-soft
		{white, {0xf6, 0xf7, 0xf9}, {0xf3, 0xf4, 0xf7}, {0xf7, 0xf8, 0xfa}, {0xfd, 0xf4, 0xe1}, {0xfd, 0xf0, 0xee}},
		{{0x0f, 0x12, 0x16}, {0x14, 0x18, 0x1d}, {0x19, 0x1e, 0x25}, {0x15, 0x1a, 0x20}, {0x2d, 0x23, 0x0f}, {0x30, 0x16, 0x14}},
	}
	texts = [2][]colour{ // --text, --muted
		{{0x14, 0x17, 0x1d}, {0x59, 0x61, 0x6e}},
		{{0xe7, 0xea, 0xef}, {0x9c, 0xa5, 0xb3}},
	}
)

// What WCAG 2 asks for at level AA.
const (
	textContrast = 4.5
	edgeContrast = 3
)

// palette are the tokens that depend on a brand, light and dark.
type palette struct{ accent, soft, primary, hover [2]colour }

// paletteOf makes a colour lighter or darker where it would be hard to read: accent is
// text on all surfaces, primary is below white text and stands out from the page, and
// soft is below text.
func paletteOf(c colour) (p palette) {
	for theme, away := range []colour{light: black, dark: white} {
		page := surfaces[theme][0]
		p.soft[theme] = c.mix(page, 0.85).mixUntil(page, textContrast, texts[theme]...)
		p.accent[theme] = c.mixUntil(away, textContrast, append(slices.Clone(surfaces[theme]), p.soft[theme])...)
		p.primary[theme] = c.mixUntil(away, edgeContrast, page).mixUntil(black, textContrast, white)
		p.hover[theme] = p.primary[theme].mix(black, 0.15)
	}
	return p
}
