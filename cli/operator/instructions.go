package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	teamdata "teamdata/client"
	"teamdata/internal/hint"
)

func instructionsCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "instructions", "Manage the instructions of an org's assistant")
	r.add(action{
		use: "show", short: "Print the instructions",
		example: "instructions show --org org_acme\ninstructions show > instructions.txt",
		op:      readInstructions,
		print: func(s *session, answer json.RawMessage) error {
			var stored instructions
			switch {
			case json.Unmarshal(answer, &stored) != nil:
				return errForm
			case stored.Instructions == "":
				s.note("no instructions yet; set them with: teamdata instructions update TEXT")
				return nil
			}
			return s.out.text(stored.Instructions)
		},
	})
	instructionsUpdate(r)
	r.add(action{
		use: "edit", short: "Edit the instructions in $EDITOR",
		long: `Opens the instructions in the editor that VISUAL or EDITOR names, or in vi, and
stores what you save. If someone else changes them in the meantime, their
version stays, and yours is kept in a file.`,
		example: "instructions edit --org org_acme",
		do:      (*session).edit,
	})
	r.add(action{
		use: "delete", short: "Delete the instructions",
		example: "instructions delete --yes",
		op:      clearInstructions,
		confirm: "This deletes the instructions",
		done:    "instructions are deleted",
	})
	return r.Command
}

func instructionsUpdate(r *resource) {
	var file string
	cmd := r.add(action{
		use: "update TEXT | --file FILE", short: "Replace the instructions", args: cobra.MaximumNArgs(1),
		long: `Replaces the instructions with the given text, or with that of a file,
unchanged. Endpoints that select the event assistant.instructionsChanged
receive it.`,
		example: "instructions update 'Answer in English.'\ninstructions update --file instructions.txt\ninstructions update --file - < instructions.txt",
		do: func(s *session) error {
			if file == "" {
				return s.setInstructions(s.args[0])
			}
			text, err := readInput(s.cmd, "file", file)
			if err != nil {
				return err
			}
			return s.setInstructions(string(text))
		},
	})
	cmd.Flags().StringVar(&file, "file", "", "a `file` with the text; - is the standard input")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if (len(args) == 1) == (file != "") {
			return errors.New("give the instructions as an argument, or in a file with --file")
		}
		return nil
	}
}

// instructions are what the API answers of them; empty when there are none.
type instructions struct{ Instructions string }

// setInstructions replaces the instructions.
func (s *session) setInstructions(text string, options ...teamdata.Option) error {
	answer, err := s.request(putInstructions, object{"instructions": text}, options...)
	if err != nil {
		return err
	}
	if s.json {
		return s.out.text(string(answer))
	}
	return s.printDone("instructions are updated")
}

// edit lets a person edit the instructions. What they wrote is kept in a file
// until it is saved.
func (s *session) edit() error {
	s.cmd.SetContext(context.WithoutCancel(s.cmd.Context())) // Ctrl-C is the editor's
	var stored instructions
	var header http.Header
	if _, err := s.read(readInstructions, nil, &stored, teamdata.ResponseHeader(&header)); err != nil {
		return err
	}
	file, err := writeDraft(stored.Instructions)
	if err != nil {
		return err
	}
	if err := s.disconnect(); err != nil { // people take their time
		return err
	}
	if err := s.saveEdited(file, stored.Instructions, header.Get("ETag")); err != nil {
		return hint.With(err, "your text is in "+file)
	}
	return os.Remove(file)
}

// saveEdited has a person edit a file with a text, and sets what became of it,
// unless the instructions have another tag by then.
func (s *session) saveEdited(file, text, tag string) error {
	edited, err := s.editFile(file)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(text, "\n") {
		edited = strings.TrimSuffix(edited, "\n") // which editors add
	}
	if edited == text {
		return s.printDone("nothing has changed")
	}
	if err := s.connect(); err != nil {
		return err
	}
	err = s.setInstructions(edited, teamdata.SetHeader("If-Match", tag))
	if refusedWith(err, teamdata.CodePreconditionFailed) {
		return hint.New("someone else changed the instructions in the meantime, and their version stays", "see them with: teamdata instructions show")
	}
	return err
}

// writeDraft writes a text to a temporary file, which only its user may read.
func writeDraft(text string) (path string, err error) {
	file, err := os.CreateTemp("", "teamdata-instructions-*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Close())
}

// editFile runs the user's editor on a file, and reads it back.
func (s *session) editFile(path string) (string, error) {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// An editor may be set with arguments, as in "code --wait". The trap keeps the
	// shell alive when Ctrl-C is pressed in the editor.
	cmd := exec.Command("sh", "-c", "trap : INT; "+editor+` "$1"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.cmd.InOrStdin(), s.cmd.OutOrStdout(), s.cmd.ErrOrStderr()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // else it would end us
	defer signal.Stop(interrupts)
	if err := cmd.Run(); err != nil {
		return "", hint.With(fmt.Errorf("the editor %q ended with %w", editor, err), "name another in EDITOR")
	}
	edited, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer edited.Close()
	text, err := UTF8Text(path, edited)
	return string(text), err
}
