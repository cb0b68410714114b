package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// fileOptions are the options of an endpoint that are read from files: the field of each,
// and its flag with what it says.
var fileOptions = [][3]string{
	{"clientCertificate", "client-cert", "a `file` with the certificate that the receiver is shown, and its issuers behind it, in PEM; with --client-key"},
	{"clientKey", "client-key", "a `file` with its key, in PEM and not encrypted; - is the standard input"},
	{"ca", "ca", "a `file` with certificates that may issue the receiver's, in PEM"},
}

const optionsHelp = `How events are sent: each --header 'Name: value' is on every request; --header
@FILE reads a header a line, which keeps the values off the command line. --rate
and --max-in-flight hold back what a receiver can't take. --client-cert and
--client-key prove who sends, and --ca trusts the receiver's private CA.
Headers, rates and certificates: docs/endpoint-options.md`

// bindOptions adds the flags of an endpoint's options that are not plain fields. The
// returned function adds them to a request's body.
func bindOptions(cmd *cobra.Command) (names []string, addTo func(s *session, body object) error) {
	headers := cmd.Flags().StringArray("header", nil, "a `header` of each request, such as 'X-Api-Key: …', or @FILE for a header a line; give it once for each")
	names = append(names, "header")
	for _, o := range fileOptions {
		cmd.Flags().String(o[1], "", o[2])
		names = append(names, o[1])
	}
	return names, func(s *session, body object) error {
		return errors.Join(s.addHeaders(body, *headers), s.addFiles(body))
	}
}

// withoutFiles is an operation without the flags of fields whose values are in files.
func (o operation) withoutFiles() operation {
	for _, option := range fileOptions {
		o = o.without(option[0])
	}
	return o
}

// addFiles reads the files of the options. An empty name clears the option.
func (s *session) addFiles(body object) error {
	for _, o := range fileOptions {
		set := s.cmd.Flag(o[1])
		if !set.Changed {
			continue
		}
		body[o[0]] = nil
		if path := set.Value.String(); path != "" {
			text, err := readInput(s.cmd, o[1], path)
			if err != nil {
				return err
			}
			if body[o[0]] = string(text); strings.TrimSpace(string(text)) == "" {
				return hint.New("--"+o[1]+": the file is empty", "give a file with PEM, or --"+o[1]+" '' to clear the option")
			}
		}
	}
	return nil
}

// addHeaders adds headers as curl takes them: Name: value, or Name: to remove one.
func (s *session) addHeaders(body object, given []string) error {
	headers := map[string]any{}
	for _, text := range given {
		lines := []string{text}
		if path, isFile := strings.CutPrefix(text, "@"); isFile {
			content, err := readInput(s.cmd, "header", path)
			if err != nil {
				return err
			}
			lines = slices.Collect(strings.Lines(string(content)))
		}
		for _, line := range lines {
			if err := addHeader(headers, strings.TrimSpace(line)); err != nil {
				return err
			}
		}
	}
	if len(headers) > 0 {
		body["headers"] = headers
	}
	return nil
}

// addHeader adds a header, unless the line is empty. An error never quotes a line, which may
// be a secret.
func addHeader(to map[string]any, line string) error {
	if line == "" {
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return hint.New("--header: a header has no name with a colon behind it", "write it as --header 'X-Api-Key: …'")
	}
	if _, twice := to[name]; twice {
		return hint.New(fmt.Sprintf("--header: %.80q is given twice", name), "give each header once")
	}
	if to[name] = nil; strings.TrimSpace(value) != "" {
		to[name] = strings.TrimSpace(value)
	}
	return nil
}

// printHeaders prints headers as addHeaders reads them.
func printHeaders(s *session, answer json.RawMessage) error {
	var of struct{ Headers record }
	if json.Unmarshal(answer, &of) != nil {
		return errForm
	}
	for _, h := range of.Headers {
		if err := s.out.line(terminal.Plain(h.name) + ": " + h.text()); err != nil {
			return err
		}
	}
	return nil
}
