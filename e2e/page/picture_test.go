package page_test

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
)

// pictureCorner is the radius of a picture's corners, in pixels.
const pictureCorner = 12

// framed gives a picture of a page a thin line around it and round corners, outside of
// which there is nothing.
func framed(page image.Image) *image.NRGBA {
	b := page.Bounds()
	framed := image.NewNRGBA(b)
	draw.Draw(framed, b, page, b.Min, draw.Src)
	for y := range b.Dy() {
		for x := range b.Dx() {
			// How far the middle of the pixel is inside of the edge.
			dx, dy := insideOf(x, b.Dx()), insideOf(y, b.Dy())
			inside := min(dx, dy)
			if dx < pictureCorner && dy < pictureCorner {
				inside = pictureCorner - math.Hypot(pictureCorner-dx, pictureCorner-dy)
			}
			if inside < 1.5 {
				c := framed.NRGBAAt(x, y)
				line := clamp(1.5 - inside)
				for _, channel := range []*uint8{&c.R, &c.G, &c.B} {
					*channel = uint8(float64(*channel)*(1-line) + 0x8b*line) // a grey that shows on white and on black
				}
				c.A = uint8(255 * clamp(inside+0.5) * (1 - 0.5*line))
				framed.SetNRGBA(x, y, c)
			}
		}
	}
	return framed
}

// insideOf is how far the middle of pixel i of n is from the nearer end.
func insideOf(i, n int) float64 { return float64(min(i, n-1-i)) + 0.5 }

func clamp(share float64) float64 { return max(0, min(1, share)) }

// maxColours are enough for a page, whose letters have a few shades of each colour.
const maxColours = 48

// reduced is a picture with the colours that it has most of, and then those that are
// farthest from them.
func reduced(full *image.NRGBA) *image.Paletted {
	counts := map[color.NRGBA]int{}
	for i := 0; i < len(full.Pix); i += 4 {
		counts[color.NRGBA{full.Pix[i], full.Pix[i+1], full.Pix[i+2], full.Pix[i+3]}]++
	}
	var colours []color.NRGBA
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.NRGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B), int(a.A)-int(b.A))
	})
	var palette color.Palette
	for _, c := range colours[:min(16, len(colours))] { // planes, of which some differ little
		palette = append(palette, c)
	}
	for apart := 40; len(palette) < maxColours && apart > 0; apart /= 2 {
		for _, c := range colours {
			if len(palette) < maxColours && !slices.ContainsFunc(palette, func(p color.Color) bool { return distance(p, c) <= apart }) {
				palette = append(palette, c)
			}
		}
	}
	few := image.NewPaletted(full.Rect, palette)
	draw.Draw(few, few.Rect, full, few.Rect.Min, draw.Src) // of the nearest colours
	return few
}

// distance is how far two colours are apart in the channel in which they differ most.
func distance(a, b color.Color) (most int) {
	r, g, bl, al := a.RGBA()
	r2, g2, bl2, al2 := b.RGBA()
	for _, d := range []int{int(r>>8) - int(r2>>8), int(g>>8) - int(g2>>8), int(bl>>8) - int(bl2>>8), int(al>>8) - int(al2>>8)} {
		most = max(most, d, -d)
	}
	return most
}

// difference is the share of pixels by which two pictures differ; 1: their sizes do.
func difference(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	differ, size := 0, a.Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			if distance(a.At(x, y), b.At(x, y)) > 48 {
				differ++
			}
		}
	}
	return float64(differ) / float64(size.Dx()*size.Dy())
}
