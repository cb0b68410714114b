package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"

	"teamdata/e2e/kit"
)

var update = flag.Bool("update", false, "make the pictures of the README again")

// Where the pictures are, and the texts that they show.
const (
	picturesFolder = "docs/pictures"
	picturesTexts  = "e2e/page/testdata/pictures"
)

// The size of a picture, in pixels. One that would cut a row ends above it.
const (
	pictureWidth  = 1200
	pictureHeight = 720
)

// The README's pictures show the pages as they are: each text is where it is in the
// picture, and at most 2 % of the pixels differ. After a change of a page they are made again:
//
//	go test ./e2e/page -run TestPictures -update
func TestPictures(t *testing.T) {
	t.Parallel()
	d := newDay(t)
	b := d.openTab()
	for name, open := range map[string]func(){
		"endpoint": func() { b.open(acme + "/endpoints/whe_billing") },
		"signature": func() {
			b.open(acme + "/endpoints/whe_billing/verify")
			b.submit(d.reformattedRequest())
		},
	} {
		for _, scheme := range []string{"light", "dark"} {
			b.emulate(scheme, pictureWidth, 1)
			b.showRows(pictureHeight)
			open()
			height := b.wholeRows(pictureHeight)
			b.showRows(height)
			b.settle()
			b.holdsToTexts(filepath.Join(picturesTexts, name+".txt"), b.texts(height))
			b.holdsToPicture(filepath.Join(picturesFolder, name+"-"+scheme+".png"), height)
		}
	}
}

// showRows makes the window so many pixels high.
func (b *tab) showRows(height int) {
	send(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: pictureWidth, Height: int64(height), DeviceScaleFactor: 1})
}

// wholeRows is where a picture ends that cuts no row of a table.
func (b *tab) wholeRows(height int) int {
	b.t.Helper()
	height, ok := evaluate[int](b, `(height) => {
		const cut = [...document.querySelectorAll("main tr")].map((el) => el.getBoundingClientRect()).find((r) => r.top < height && r.bottom > height);
		return Math.floor(cut?.top ?? height);
	}`, height)
	if !ok {
		b.t.Fatal("there is no page")
	}
	return height
}

// settle waits until the font is there and nothing moves any more.
func (b *tab) settle() {
	b.t.Helper()
	evaluate[any](b, `async () => { await document.fonts.ready; await Promise.all(document.getAnimations().map((a) => a.finished)); await new Promise(requestAnimationFrame); }`)
}

// placed is a text and where it is on a page, in pixels.
type placed struct {
	X, Y, Width, Height float64
	Text                string
}

func (p placed) String() string {
	return fmt.Sprintf("%.0f %.0f %.0f %.0f %s", p.X, p.Y, p.Width, p.Height, p.Text)
}

// readPlaced reads what String writes.
func readPlaced(line string) (p placed, err error) {
	_, err = fmt.Sscanf(line, "%f %f %f %f", &p.X, &p.Y, &p.Width, &p.Height)
	p.Text = strings.Join(strings.Split(line, " ")[4:], " ")
	return p, err
}

// isAt reports whether a text is where it was. The system's fonts differ a little.
func (p placed) isAt(was placed) bool {
	within := func(a, b, allowed float64) bool { return max(a-b, b-a) <= allowed }
	return p.Text == was.Text && within(p.X, was.X, 2) && within(p.Y, was.Y, 2) && within(p.Width, was.Width, 2+was.Width/50) && within(p.Height, was.Height, 2)
}

// texts are the texts that are seen in a picture, in the order of the page.
func (b *tab) texts(height int) (texts []placed) {
	b.t.Helper()
	texts, _ = evaluate[[]placed](b, `(height) => {
		const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange(), texts = [];
		while (all.nextNode()) {
			range.selectNode(all.currentNode);
			const around = all.currentNode.parentElement, r = range.getBoundingClientRect(), Text = all.currentNode.textContent.trim().replace(/\s+/g, " ");
			const seen = document.elementFromPoint(r.x + Math.min(r.width, 10) / 2, r.y + r.height / 2);
			if (Text && r.bottom <= height && seen && (around.contains(seen) || seen.contains(around)) && around.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && around.clientWidth !== 1)
				texts.push({ X: r.x, Y: r.y, Width: r.width, Height: r.height, Text });
		}
		return texts;
	}`, height)
	if len(texts) < 20 {
		b.t.Fatalf("%s shows %v", b.path(), texts)
	}
	return texts
}

// holdsToTexts compares the texts with those of a file.
func (b *tab) holdsToTexts(file string, texts []placed) {
	b.t.Helper()
	var now strings.Builder
	for _, p := range texts {
		fmt.Fprintln(&now, p)
	}
	if *update {
		b.write(file, []byte(now.String()))
		return
	}
	lines := strings.Split(strings.TrimSuffix(kit.ReadText(b.t, file), "\n"), "\n")
	if len(lines) != len(texts) {
		b.t.Fatalf("the page shows %d texts, its picture %d; make it again with -update\n%s", len(texts), len(lines), &now)
	}
	for i, p := range texts {
		if was, err := readPlaced(lines[i]); err != nil || !p.isAt(was) {
			b.t.Errorf("the page has %s, its picture %s; make it again with -update", p, lines[i])
		}
	}
}

// holdsToPicture compares the page with a picture in a file.
func (b *tab) holdsToPicture(file string, height int) {
	b.t.Helper()
	r := send(b, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{Clip: &cdppage.Viewport{Width: pictureWidth, Height: float64(height), Scale: 1}})
	shown, err := png.Decode(bytes.NewReader(r.Data))
	kit.Must(b.t, err)
	now := reduced(framed(shown))
	if *update {
		var out bytes.Buffer
		kit.Must(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, now))
		b.write(file, out.Bytes())
		return
	}
	was, err := png.Decode(strings.NewReader(kit.ReadText(b.t, file)))
	kit.Must(b.t, err)
	if share := difference(was, now); share > 0.02 {
		b.t.Errorf("%.1f %% of %s differ from the page; make it again with -update", 100*share, file)
	}
}

func (b *tab) write(file string, content []byte) {
	b.t.Helper()
	kit.Must(b.t, os.MkdirAll(filepath.Dir(file), 0o755))
	kit.Must(b.t, os.WriteFile(file, content, 0o644))
	b.t.Logf("%s has %d bytes", file, len(content))
}
