package sbom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime/debug"
	"strings"
)

// The linker's record of a build begins on a multiple of 16 bytes with this, the size of
// a pointer and the flags; after 32 bytes come two strings with their lengths before
// them: the Go version, and the modules between two marks. Package debug/buildinfo reads
// the same by way of the binary's sections, for which it would add 557 KB to the program.
const (
	recordStart   = "\xff Go buildinf:"
	recordHeader  = 32
	recordAlign   = 16
	flagsAt       = 15
	inlineStrings = 2
	markSize      = 16
)

// buildInfo reads what the linker recorded in a binary.
func buildInfo(content []byte) (*debug.BuildInfo, error) {
	for at := 0; ; at++ {
		next := bytes.Index(content[at:], []byte(recordStart))
		if next < 0 {
			return nil, errors.New("not a binary made by Go 1.18 or later")
		}
		at += next
		if at%recordAlign != 0 || len(content) < at+recordHeader || content[at+flagsAt] != inlineStrings {
			continue // the text of a program that looks for it, such as this one
		}
		version, rest := sized(content[at+recordHeader:])
		modules, _ := sized(rest)
		if !strings.HasPrefix(version, "go") || len(modules) < 2*markSize {
			continue
		}
		info, err := debug.ParseBuildInfo(modules[markSize : len(modules)-markSize])
		if err != nil {
			return nil, err
		}
		info.GoVersion = version
		return info, nil
	}
}

// sized reads a string with its length before it; it is empty if there is none.
func sized(raw []byte) (text string, rest []byte) {
	size, n := binary.Uvarint(raw)
	if n <= 0 || size > uint64(len(raw)-n) {
		return "", nil
	}
	return string(raw[n : n+int(size)]), raw[n+int(size):]
}
