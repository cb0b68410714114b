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
	version := env.server.config.versions[0].date
	for name, values := range x.Header {
		if name == "API-Version" {
			version = values[0]
		}
	}
	described, err := contractOf(describedAs{isPull(x.URL.Path), version})
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

// describedAs names a document: of the API or of that by which consumers pull.
type describedAs struct {
	pull    bool
	version string
}

var contracts sync.Map // of those that were asked for

func contractOf(d describedAs) (*contract.Contract, error) {
	if c, ok := contracts.Load(d); ok {
		return c.(*contract.Contract), nil
	}
	document, ok := knownDocument(d.version)
	if d.pull {
		document = pullDocument(d.version)
	} else if !ok {
		return nil, fmt.Errorf("there is no document of the version %q", d.version)
	}
	c, err := contract.Read(document.JSON)
	if err == nil {
		contracts.Store(d, c)
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

// pullDocument is that of the pull API in a version.
func pullDocument(version string) reference.Document {
	switch version {
	case "2025-01-01":
		return rewritten(openapi.Pull, version, errorsIn2025)
	case "2024-01-01":
		return rewritten(openapi.Pull, version, errorsIn2025, func(root branch) { errorsIn2024(root, "/{endpoint}") })
	}
	return openapi.Pull
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
	errorsIn2025(root)
}

func errorsIn2025(root branch) {
	example := root.at("components", "responses", "RateLimited", "content", "application/json", "examples", "rateLimited")
	example.at("value", "error")["code"] = "tooManyRequests"
}

func in2024(root branch) {
	root.at("components", "schemas", "TestDelivery").rename("id", "delivery")
	errorsIn2024(root, "/webhooks/{id}/test")
}

// errorsIn2024 describes the answer to an unknown path at some operation.
func errorsIn2024(root branch, path string) {
	responses := root.at("components", "responses")
	responses.at("Forbidden", "headers")["WWW-Authenticate"] = map[string]any{"schema": map[string]any{"const": "Bearer"}}
	root.at("paths", path, "post", "responses")[fmt.Sprint(http.StatusGone)] = responses["NotFound"]
}
