package settings

import (
	"strings"

	"teamdata/store"
)

// instructionsPage is the form, and what it was made from.
type instructionsPage struct {
	Now      store.Instructions // as they are
	Text     string             // in the form
	Version  string             // of Now, as the form carries it
	Conflict bool               // somebody changed them since the form was made
	Err      *store.Error       // nil: nothing is wrong with Text
}

func (v *visit) showInstructions() error {
	now, err := v.viewInstructions()
	if err != nil {
		return err
	}
	return v.render(200, "instructions", instructionsPage{Now: now, Text: now.Text, Version: now.Version()})
}

func (v *visit) viewInstructions() (now store.Instructions, err error) {
	err = v.view(func(tx store.Tx) (err error) {
		now, err = tx.Instructions(v.org.ID)
		return err
	})
	return now, err
}

// saveInstructions sets what the form has, if that is something else than there
// was, and nobody changed it since the form was made.
func (v *visit) saveInstructions() error {
	p := instructionsPage{Text: lines(v.r.PostForm.Get("instructions")), Version: v.r.PostForm.Get("version")}
	same := false
	err := v.change(func(tx store.Tx) (err error) {
		if p.Now, err = tx.Instructions(v.org.ID); err != nil {
			return err
		}
		if same = p.Text == lines(p.Now.Text); same || p.Text == "" {
			return nil
		}
		if err := store.CheckInstructions(tx, v.org.ID, []string{p.Version}); err != nil {
			return err
		}
		return store.SetInstructions(tx, v.actor(), v.org.ID, p.Text, true)
	})
	switch {
	case err != nil:
		return v.instructionsAgain(p, err)
	case same:
		return v.done("instructions-unchanged", v.path("instructions"))
	case p.Text == "":
		return v.redirect(v.path("instructions", "clear"))
	}
	return v.done("instructions-saved", v.path("instructions"))
}

// instructionsAgain shows the form that was sent, with what is wrong, or beside
// what somebody else has written. Sent again, it replaces that.
func (v *visit) instructionsAgain(p instructionsPage, err error) error {
	if store.CodeOf(err) == store.CodePreconditionFailed {
		p.Conflict, p.Version = true, p.Now.Version()
		return v.render(store.CodePreconditionFailed.Status(), "instructions", p)
	}
	e, ok := formError(err)
	if !ok {
		return err
	}
	p.Err = e
	return v.render(e.Code.Status(), "instructions", p)
}

// lines is a text with its lines ended as Unix ends them. A browser ends them in
// its own way, and can't hold a NUL; a text that differs in no more was not
// changed.
func lines(text string) string { return sameLines.Replace(text) }

var sameLines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")

func (v *visit) askToClearInstructions() error {
	now, err := v.viewInstructions()
	if err != nil {
		return err
	}
	return v.render(200, "instructions_clear", instructionsPage{Now: now, Version: now.Version()})
}

func (v *visit) clearInstructions() error {
	p := instructionsPage{Version: v.r.PostForm.Get("version")}
	err := v.change(func(tx store.Tx) (err error) {
		if p.Now, err = tx.Instructions(v.org.ID); err != nil || !p.Now.Set {
			return err
		}
		if err := store.CheckInstructions(tx, v.org.ID, []string{p.Version}); err != nil {
			return err
		}
		return store.SetInstructions(tx, v.actor(), v.org.ID, "", false)
	})
	if store.CodeOf(err) == store.CodePreconditionFailed {
		p.Conflict, p.Version = true, p.Now.Version()
		return v.render(store.CodePreconditionFailed.Status(), "instructions_clear", p)
	}
	if err != nil {
		return err
	}
	return v.done("instructions-cleared", v.path("instructions"))
}
