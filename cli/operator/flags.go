package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"teamdata/internal/canonical"
	"teamdata/internal/hint"
)

// timeFlag is a flag with a time: a date, a time as RFC 3339 has it, or how long
// from now it is, forward or back.
type timeFlag struct {
	text    string        // as the API takes it, or as it was given
	sign    time.Duration // 1: a duration leads forward; -1: back
	fromNow *fromNow      // nil: it is not a duration
}

// fromNow is a time by how far it is from now. The server says when that is.
type fromNow time.Duration

// Set reads the flag.
func (t *timeFlag) Set(text string) error {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		t.text, t.fromNow = text, new(fromNow(t.sign*d))
		return nil
	}
	at, ok := canonical.DateTime(text)
	for _, layout := range []string{time.DateOnly, toMinute, toSecond} { // as lists show them
		if t, err := time.Parse(layout, text); err == nil {
			at, ok = t, true
		}
	}
	if ok {
		t.text, t.fromNow = formatTime(at), nil
		return nil
	}
	return errors.New("a time is written like 2026-11-21T12:00:00Z, 2026-11-21 or 36h")
}

// apiTime is the form of the API's times.
const apiTime = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(apiTime) }

// resolveTimes puts times in the places of durations from now.
func (s *session) resolveTimes(body object) error {
	for name, value := range body {
		if d, ok := value.(fromNow); ok {
			now, err := s.now()
			if err != nil {
				return err
			}
			body[name] = formatTime(now.Add(time.Duration(d)))
		}
	}
	return nil
}

// String is the time in the form of the API, or how far it is from now.
func (t *timeFlag) String() string { return t.text }

// Type is how the help names the value.
func (t *timeFlag) Type() string { return "time" }

// maxInput is more than the API takes: it refuses whatever is longer.
const maxInput = 8<<20 + 1

// readInput reads the text of a file that a flag names, or of the standard input for -.
func readInput(cmd *cobra.Command, flag, path string) ([]byte, error) {
	in, err := openInput(cmd, flag, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := UTF8Text(nameOf(path), io.LimitReader(in, maxInput))
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return content, nil
}

// readJSON reads a file with one JSON value.
func readJSON(cmd *cobra.Command, flag, path string) (json.RawMessage, error) {
	text, err := readInput(cmd, flag, path)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("--%s: %s does not hold JSON, or more than one value", flag, nameOf(path))
	}
	return text, nil
}

// nameOf is how to call an input.
func nameOf(path string) string {
	if path == "-" {
		return "the standard input"
	}
	return path
}

// openInput opens a file that a flag names.
func openInput(cmd *cobra.Command, flag, path string) (io.ReadCloser, error) {
	in, err := openFile(cmd, path)
	if err != nil {
		why, advice := hint.Split(err)
		return nil, hint.New("--"+flag+": "+why, advice)
	}
	return in, nil
}

// readAlready is the standard input once a - has taken it: a second reader would find nothing.
type readAlready struct{ io.Reader }

const giveFile = "give the path of a file, or - for the standard input"

// openFile opens a file that is an argument.
func openFile(cmd *cobra.Command, path string) (io.ReadCloser, error) {
	if path == "-" {
		in := cmd.InOrStdin()
		if _, again := in.(readAlready); again {
			return nil, hint.New("the standard input is named twice", "give the path of a file in all places but one")
		}
		cmd.SetIn(readAlready{in})
		return io.NopCloser(in), nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, hint.With(err, giveFile)
	}
	return in, nil
}
