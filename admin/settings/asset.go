package settings

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"

	"teamdata/store"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load. Its public name contains a part of its hash, so
// that browsers may cache it for ever.
type asset struct {
	contentType string
	body        []byte
	zipped      []byte // the body, compressed; nil: it wouldn't be shorter
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
}

// assets are all files, hashed and compressed for the first page.
var assets = sync.OnceValue(loadAssets)

type assetList struct {
	files       map[string]asset  // by public name
	publicNames map[string]string // by file name
}

func loadAssets() assetList {
	found := assetList{map[string]asset{}, map[string]string{}}
	found.add("inter-OFL.txt")
	font := found.add("inter.woff2")
	found.add("settings.css", "inter.woff2", font)
	found.add("settings.js")
	return found
}

// add adds a file, in which other names stand for some, and returns its public name.
func (l assetList) add(name string, renamed ...string) string {
	body, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	if len(renamed) > 0 {
		body = []byte(strings.NewReplacer(renamed...).Replace(string(body)))
	}
	sum, ext := sha256.Sum256(body), path.Ext(name)
	public := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
	l.files[public], l.publicNames[name] = asset{assetTypes[ext], body, zip(body)}, public
	return public
}

// zip compresses a file; nil: it is compressed already.
func zip(body []byte) []byte {
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.DefaultCompression)
	w.Write(body)
	if w.Close(); zipped.Len() >= len(body)*9/10 {
		return nil
	}
	return zipped.Bytes()
}

// assetPath is the path of an asset, by its file name.
func assetPath(name string) string { return Path + "/assets/" + assets().publicNames[name] }

func (r *request) sendAsset() error {
	a, ok := assets().files[r.Param("name")]
	if !ok {
		return errNoPage
	}
	r.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
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
