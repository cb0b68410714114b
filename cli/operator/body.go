package operator

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// given are the flags that were set, of some names, as fields of a request's
// body: --created-by is createdBy.
func given(f *pflag.FlagSet, names ...string) object {
	body := object{}
	for _, name := range names {
		if flag := f.Lookup(name); flag.Changed {
			body[camel(name)] = valueOf(flag.Value)
		}
	}
	return body
}

func valueOf(v pflag.Value) any {
	if list, ok := v.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	if strings.HasPrefix(v.Type(), "int") {
		return json.Number(v.String())
	}
	return v.String()
}

func camel(name string) string {
	first, rest, more := strings.Cut(name, "-")
	if !more || rest == "" {
		return name
	}
	return first + strings.ToUpper(rest[:1]) + camel(rest[1:])
}

// moment is a flag with a time: a date, a time as RFC 3339 has it, or how long
// from now it is, forward or back.
type moment struct {
	text string
	sign time.Duration // 1: a duration leads forward; -1: back
}

// Set reads the flag.
func (m *moment) Set(text string) error {
	at, err := parseMoment(text, m.sign)
	if err != nil {
		return err
	}
	m.text = at.UTC().Format("2006-01-02T15:04:05.000Z")
	return nil
}

func parseMoment(text string, sign time.Duration) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(sign * d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("a time is such as 2026-11-21T12:00:00Z, 2026-11-21 or 36h")
}

// String is the time in the form of the API.
func (m *moment) String() string { return m.text }

// Type is how the help names the value.
func (m *moment) Type() string { return "time" }

// maxInput is more than any input may be: what is too large for it, the API
// refuses.
const maxInput = 8<<20 + 1

// readInput reads a file that a flag names, or the standard input for -.
func readInput(cmd *cobra.Command, flag, path string) ([]byte, error) {
	in, err := openInput(cmd, flag, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return content, nil
}

// nameOf is how to call an input.
func nameOf(path string) string {
	if path == "-" {
		return "the standard input"
	}
	return path
}

func openInput(cmd *cobra.Command, flag, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w; give the path of a file, or - for the standard input", flag, err)
	}
	return in, nil
}
