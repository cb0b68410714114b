package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"teamdata/store"
)

// edit lets a person edit the instructions. What they wrote is kept in a file
// until it is saved.
func (s *session) edit() error {
	s.cmd.SetContext(context.WithoutCancel(s.cmd.Context())) // Ctrl-C is the editor's
	a, text, err := s.instructions()
	if err != nil {
		return err
	}
	file, err := writeDraft(text)
	if err != nil {
		return err
	}
	if err := s.disconnect(); err != nil { // people take their time
		return err
	}
	if err := s.saveEdited(file, text, a.header.Get("ETag")); err != nil {
		return fmt.Errorf("%w; your text is in %s", err, file)
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
		return s.said("nothing is changed")
	}
	if err := s.connect(); err != nil {
		return err
	}
	err = s.setInstructions(edited, tag)
	if isCode(err, store.CodePreconditionFailed) {
		return errors.New("somebody else changed the instructions meanwhile, and theirs stay; look at them with: teamdata instructions show")
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
		return "", fmt.Errorf("the editor %q ended with %w; name another in EDITOR", editor, err)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
