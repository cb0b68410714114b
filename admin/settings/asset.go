package settings

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"

	"teamdata/store"
	"teamdata/wire/look"
)

//go:embed assets/settings.js
var script []byte

// asset is a file that pages load. Its public name contains a part of its hash, so
// that browsers may cache it for ever.
type asset struct {
	contentType string
	body        []byte
	zipped      []byte // the body, compressed; nil: it wouldn't be shorter
	policy      string // its own Content-Security-Policy; empty: that of the pages
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png",
}

// imagePolicy lets an image that is opened by itself load and run nothing.
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

type assetList struct {
	files       map[string]asset  // by public name
	publicNames map[string]string // by file name
	Logo        string            // path of the brand's; empty: it has none
}

// loadAssets hashes and compresses all files. The brand's colour is part of the style
// sheet, so that it costs no request.
func loadAssets(b Brand) assetList {
	found := assetList{files: map[string]asset{}, publicNames: map[string]string{}}
	font := found.add(look.FontName, look.Font)
	css := strings.ReplaceAll(look.CSS, look.FontName, font)
	found.add("settings.css", []byte(css+b.css()))
	found.add("settings.js", script)
	found.add("inter-OFL.txt", look.FontLicence)
	if ext := logoExt(b.Logo); ext != "" {
		name := found.add("logo"+ext, b.Logo)
		logo := found.files[name]
		logo.policy = imagePolicy
		found.files[name], found.Logo = logo, found.Asset("logo"+ext)
	}
	return found
}

// add adds a file, and returns its public name.
func (l assetList) add(name string, body []byte) string {
	sum, ext := sha256.Sum256(body), path.Ext(name)
	public := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
	l.files[public], l.publicNames[name] = asset{contentType: assetTypes[ext], body: body, zipped: compress(body)}, public
	return public
}

// compress compresses a file; nil: it is compressed already.
func compress(body []byte) []byte {
	var zipped bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	w.Reset(&zipped)
	w.Write(body)
	if w.Close(); zipped.Len() >= len(body)*9/10 {
		return nil
	}
	return zipped.Bytes()
}

// gzipWriters are used again: each takes a megabyte, and every page needs one.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Asset is the path of an asset, by its file name.
func (l assetList) Asset(name string) string { return Path + "/assets/" + l.publicNames[name] }

func (r *request) sendAsset() error {
	a, ok := r.s.assets().files[r.Param("name")]
	if !ok {
		return errNoPage
	}
	r.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if a.policy != "" {
		r.W.Header().Set("Content-Security-Policy", a.policy)
	}
	body := a.body
	if a.zipped != nil {
		r.W.Header().Set("Vary", "Accept-Encoding")
		if takesGzip(r.HTTP.Header) {
			r.W.Header().Set("Content-Encoding", "gzip")
			body = a.zipped
		}
	}
	r.Send(store.Answer{Status: http.StatusOK, ContentType: a.contentType, Body: body})
	return nil
}

// takesGzip reports whether a client names gzip, and doesn't refuse it.
func takesGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
