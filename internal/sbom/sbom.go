// Package sbom makes and checks the software bill of materials of a binary, in
// CycloneDX's JSON. All of it comes from what the Go toolchain wrote into the binary,
// as `go version -m` prints it: nothing of the time or the machine, so the same binary
// has the same document. It imports nothing of ours.
package sbom

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
)

// document is the part of CycloneDX 1.6 that a binary fills.
type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // in hex
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const sha256Name = "SHA-256"

// Of returns the document of a binary: its modules with their versions and hashes, and
// for the whole its SHA-256, the Go version and the settings of the build. The version
// is that of the release. It fails if the content is not a binary made by Go.
func Of(binary []byte, version string) ([]byte, error) {
	d, err := of(binary, version)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

func of(binary []byte, version string) (d document, err error) {
	info, err := buildInfo(binary)
	if err != nil {
		return d, err
	}
	sum := sha256.Sum256(binary)
	d = document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []component{}}
	d.Metadata.Component = component{
		Type: "application", Ref: info.Main.Path, Name: info.Main.Path, Version: version,
		Hashes:     []hash{{sha256Name, hex.EncodeToString(sum[:])}},
		Properties: []property{{"go.version", info.GoVersion}},
	}
	for _, s := range info.Settings {
		d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"go.build." + s.Key, s.Value})
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		one, err := library(m)
		if err != nil {
			return d, err
		}
		d.Components = append(d.Components, one)
	}
	return d, nil
}

// library is a module. Its hash is the one of go.sum, in hex as CycloneDX wants it: the
// SHA-256 of the list of its files with theirs.
func library(m *debug.Module) (c component, err error) {
	purl := "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version)
	c = component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	encoded, ok := strings.CutPrefix(m.Sum, "h1:")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return c, fmt.Errorf("module %s has the hash %q, which is not h1: and a SHA-256", m.Path, m.Sum)
	}
	c.Hashes = []hash{{sha256Name, hex.EncodeToString(sum)}}
	return c, nil
}

// Check compares a document with a binary: the binary's hash, the version, and each
// module in either of them. The error says all differences. It returns how many
// modules there are. Anything else in the document is not compared, so that it may be
// of another version of this package.
func Check(text, binary []byte, version string) (modules int, err error) {
	var said document
	if err := json.Unmarshal(text, &said); err != nil {
		return 0, fmt.Errorf("not CycloneDX: %w", err)
	}
	is, err := of(binary, version)
	if err != nil {
		return 0, err
	}
	var faults []error
	if a, b := said.Metadata.Component, is.Metadata.Component; a.name() != b.name() {
		faults = append(faults, fmt.Errorf("it describes %s, and the binary is %s", a.name(), b.name()))
	}
	listed, linked := names(said.Components), names(is.Components)
	for _, c := range is.Components {
		if !listed[c.name()] {
			faults = append(faults, fmt.Errorf("it does not list %s, which is linked", c.name()))
		}
	}
	for _, c := range said.Components {
		if !linked[c.name()] {
			faults = append(faults, fmt.Errorf("it lists %s, which is not linked", c.name()))
		}
	}
	if len(said.Components) != len(listed) {
		faults = append(faults, errors.New("it lists a module twice"))
	}
	return len(linked), errors.Join(faults...)
}

// name is what a component is known by, with its hash.
func (c component) name() string {
	name := c.Name + " " + c.Version
	for _, h := range c.Hashes {
		name += " " + h.Algorithm + " " + h.Content
	}
	return name
}

func names(components []component) map[string]bool {
	all := map[string]bool{}
	for _, c := range components {
		all[c.name()] = true
	}
	return all
}
