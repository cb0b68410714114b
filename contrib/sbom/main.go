// Sbom prints the software bill of materials of a binary, for .ci/release:
//
//	go run ./contrib/sbom teamdata v1.2.3
package main

import (
	"fmt"
	"os"

	"teamdata/internal/sbom"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(path, version string) error {
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := sbom.Of(binary, version)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = os.Stdout.Write(text)
	return err
}
