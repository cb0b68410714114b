package settings

import (
	"strings"
	"unicode/utf8"

	"teamdata/store"
)

// instructionsPage is the form, and the instructions it was made from.
type instructionsPage struct {
	Now      store.Instructions // the current ones
	Text     string             // in the form
	Version  string             // of the instructions that the form was made from
	Conflict bool               // somebody changed them since the form was made
	Err      *store.Error       // nil: nothing is wrong with Text
}

// Length is that of the current instructions, in characters.
func (p instructionsPage) Length() int { return utf8.RuneCountInString(p.Now.Text) }

func (r *request) showInstructions() error { return r.renderInstructions("instructions") }

func (r *request) confirmClearInstructions() error {
	return r.renderInstructions("instructions_clear")
}

// renderInstructions is a page about the current instructions.
func (r *request) renderInstructions(page string) error {
	var p instructionsPage
	return r.Show(200, page, &p, func(tx store.Tx) (err error) {
		p.Now, err = tx.Instructions(r.Org.ID)
		p.Text, p.Version = p.Now.Text, p.Now.Version()
		return err
	})
}

// saveInstructions sets the instructions of the form if they differ from the current
// ones and nobody has changed those since the form was made.
func (r *request) saveInstructions() error {
	p := instructionsPage{Text: normalizeLines(r.Field("instructions")), Version: r.Field("version")}
	same := false
	err := r.changeInstructions(&p, func() bool {
		same = p.Text == normalizeLines(p.Now.Text)
		return !same && p.Text != ""
	})
	switch {
	case store.CodeOf(err) == store.CodePreconditionFailed:
		return r.renderConflict("instructions", p)
	case err != nil:
		return r.OnForm(err, func(status int, e *store.Error) error {
			p.Err = e
			return r.Render(status, "instructions", p)
		})
	case same:
		return r.Done("instructions-unchanged", r.path("instructions"))
	case p.Text == "":
		return r.Redirect(r.path("instructions", "clear"))
	}
	return r.Done("instructions-saved", r.path("instructions"))
}

// renderConflict shows the form as it was sent, next to the other person's text.
// Sent again, it replaces that text.
func (r *request) renderConflict(page string, p instructionsPage) error {
	p.Conflict, p.Version = true, p.Now.Version()
	return r.Render(store.CodePreconditionFailed.Status(), page, p)
}

// normalizeLines is a text with Unix line endings and without NUL. Browsers change both, so a
// text that differs in nothing else was not changed.
func normalizeLines(text string) string { return lineNormalizer.Replace(text) }

var lineNormalizer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")

func (r *request) clearInstructions() error {
	p := instructionsPage{Version: r.Field("version")}
	err := r.changeInstructions(&p, func() bool { return p.Now.Set })
	if store.CodeOf(err) == store.CodePreconditionFailed {
		return r.renderConflict("instructions_clear", p)
	}
	if err != nil {
		return err
	}
	return r.Done("instructions-cleared", r.path("instructions"))
}

// changeInstructions sets the instructions to the form's text, or clears them if it has none,
// unless that is not needed in view of the current ones. preconditionFailed: somebody has
// changed those since the form was made.
func (r *request) changeInstructions(p *instructionsPage, needed func() bool) error {
	return r.Change(func(tx store.Tx) (err error) {
		if p.Now, err = tx.Instructions(r.Org.ID); err != nil || !needed() {
			return err
		}
		if err := store.CheckInstructions(tx, r.Org.ID, []string{p.Version}); err != nil {
			return err
		}
		return store.SetInstructions(tx, r.actor(), r.Org.ID, p.Text, p.Text != "")
	})
}
