package settings

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"teamdata/store"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load. Its public name contains a part of its hash, so
// that browsers may cache it for ever.
type asset struct {
	contentType string
	body        []byte
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// assets are keyed by public name, publicNames by file name.
var assets, publicNames = loadAssets()

func loadAssets() (map[string]asset, map[string]string) {
	found, names := map[string]asset{}, map[string]string{}
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		body, err := assetFiles.ReadFile("assets/" + file.Name())
		if err != nil {
			panic(err)
		}
		sum, ext := sha256.Sum256(body), path.Ext(file.Name())
		public := strings.TrimSuffix(file.Name(), ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		found[public], names[file.Name()] = asset{assetTypes[ext], body}, public
	}
	return found, names
}

// assetPath is the path of an asset, by its file name.
func assetPath(name string) string { return Path + "/assets/" + publicNames[name] }

func (r *request) sendAsset() error {
	a, ok := assets[r.Param("name")]
	if !ok {
		return errNoPage
	}
	r.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	r.Send(store.Answer{Status: http.StatusOK, ContentType: a.contentType, Body: a.body})
	return nil
}
