package settings

import (
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
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// assets are all files, hashed for the first page.
var assets = sync.OnceValue(loadAssets)

type assetList struct {
	files       map[string]asset  // by public name
	publicNames map[string]string // by file name
}

func loadAssets() assetList {
	found := assetList{map[string]asset{}, map[string]string{}}
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
		found.files[public], found.publicNames[file.Name()] = asset{assetTypes[ext], body}, public
	}
	return found
}

// assetPath is the path of an asset, by its file name.
func assetPath(name string) string { return Path + "/assets/" + assets().publicNames[name] }

func (r *request) sendAsset() error {
	a, ok := assets().files[r.Param("name")]
	if !ok {
		return errNoPage
	}
	r.W.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	r.Send(store.Answer{Status: http.StatusOK, ContentType: a.contentType, Body: a.body})
	return nil
}
