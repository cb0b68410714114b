package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"teamdata/e2e/kit/contract"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
)

// faults are where an exchange is not as the document of its version says. Other
// APIs have their own tests, and so has what a test adds.
func (env *testEnv) faults(x contract.Exchange) []string {
	if env.isElsewhere(x.URL.Path) {
		return nil
	}
	if isPull(x.URL.Path) {
		return pullContract().Faults(x)
	}
	version := env.server.config.versions[0].date
	for name, values := range x.Header {
		if name == "API-Version" {
			version = values[0]
		}
	}
	described, err := contractOf(version)
	if err != nil {
		return []string{err.Error()}
	}
	return described.Faults(x)
}

func (env *testEnv) isElsewhere(path string) bool {
	for i := range env.server.config.Mounts {
		if env.server.config.Mounts[i].has(path) {
			return true
		}
	}
	return path == mcpRoute.path || path == LivePath || path == ReadyPath || env.added[path] || strings.HasPrefix(path, basePath+"/openapi.") || strings.HasPrefix(path, pullPath+"/openapi.")
}

var pullContract = sync.OnceValue(func() *contract.Contract {
	c, err := contract.Read(openapi.Pull.JSON)
	if err != nil {
		panic(err)
	}
	return c
})

var contracts sync.Map // of the versions that were asked for

func contractOf(version string) (*contract.Contract, error) {
	if c, ok := contracts.Load(version); ok {
		return c.(*contract.Contract), nil
	}
	document, ok := knownDocument(version)
	if !ok {
		return nil, fmt.Errorf("there is no document of the version %q", version)
	}
	c, err := contract.Read(document.JSON)
	if err == nil {
		contracts.Store(version, c)
	}
	return c, err
}

// knownDocument is the document of a published version, or of one that is made up
// in threeVersions.
func knownDocument(version string) (reference.Document, bool) {
	if document, ok := openapi.Of(version); ok {
		return document, true
	}
	current, _ := openapi.Of("2026-10-06")
	switch version {
	case "2025-01-01":
		return rewritten(current, version, in2025), true
	case "2024-01-01":
		return rewritten(current, version, in2025, in2024), true
	}
	return reference.Document{}, false
}

// branch is a part of a document.
type branch map[string]any

func (b branch) at(keys ...string) branch {
	for _, key := range keys {
		b = b[key].(map[string]any)
	}
	return b
}

// rename gives a key of an object's properties the name that it had.
func (b branch) rename(name, old string) {
	b.at("properties")[old] = b.at("properties")[name]
	delete(b.at("properties"), name)
	for i, required := range b["required"].([]any) {
		if required == name {
			b["required"].([]any)[i] = old
		}
	}
}

func rewritten(d reference.Document, version string, edits ...func(branch)) reference.Document {
	var root branch
	if err := json.Unmarshal(d.JSON, &root); err != nil {
		panic(err)
	}
	root.at("info")["version"] = version
	for _, edit := range edits {
		edit(root)
	}
	d.Version = version
	d.JSON, _ = json.MarshalIndent(root, "", " ") // as the published ones are
	return d
}

func in2025(root branch) {
	root.at("components", "schemas", "Member").rename("userId", "user")
	example := root.at("components", "responses", "RateLimited", "content", "application/json", "examples", "rateLimited")
	example.at("value", "error")["code"] = "tooManyRequests"
}

func in2024(root branch) {
	root.at("components", "schemas", "TestDelivery").rename("id", "delivery")
	responses := root.at("components", "responses")
	responses.at("Forbidden", "headers")["WWW-Authenticate"] = map[string]any{"schema": map[string]any{"const": "Bearer"}}
	root.at("paths", "/webhooks/{id}/test", "post", "responses")[fmt.Sprint(http.StatusGone)] = responses["NotFound"]
}
