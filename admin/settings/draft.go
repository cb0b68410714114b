package settings

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// draft is a form that was sent when its session had ended. The sign-in page carries
// it, sealed, so that what the person typed comes back after the sign-in.
type draft struct {
	User    string // whose session it was; empty: it is not known
	Pattern string // of the form's route
	Params  httprouter.Params
	Values  url.Values
	At      time.Time
}

const (
	draftPath    = Path + "/sign-in/draft"
	draftPurpose = "draft of a form"
	draftTTL     = time.Hour
	maxDraft     = maxForm - 64<<10 // sealed; the rest of the sign-in form fits beside it
)

// draftForms show a form again as it was sent, without an error, by the pattern of the
// route that it is sent to. Forms without text that a person typed are left out.
var draftForms map[string]func(*request) error

func init() { // the handlers lead back here, through Fail
	draftForms = map[string]func(*request) error{
		Path + "/orgs/:org/new-key":                      func(r *request) error { return r.rerenderKeyForm(http.StatusOK, nil) },
		Path + "/orgs/:org/new-member":                   func(r *request) error { return r.ShowInviteAgain(http.StatusOK, nil) },
		Path + "/orgs/:org/new-endpoint":                 func(r *request) error { return r.rerenderEndpointForm(http.StatusOK, nil) },
		Path + "/orgs/:org/endpoints/:endpoint/settings": func(r *request) error { return r.rerenderEndpointForm(http.StatusOK, nil) },
		Path + "/orgs/:org/endpoints/:endpoint/verify":   func(r *request) error { return r.renderVerify(r.verifyOfForm()) },
		Path + "/orgs/:org/instructions":                 (*request).restoreInstructions,
	}
}

// secretFields are never part of a draft.
var secretFields = []string{"secret", "password", "old", "again", "credential", "nonce", "headerValue", "clientCertificate", "clientKey", "ca"}

// sealDraft seals the form of the request; empty: it is not one to be kept.
func (r *request) sealDraft() string {
	if sealed := r.Draft(); sealed != "" && r.Pattern == draftPath {
		return sealed // the new session has ended too
	}
	if r.HTTP.Method != http.MethodPost || draftForms[r.Pattern] == nil {
		return ""
	}
	d := draft{Pattern: r.Pattern, Params: r.Params, Values: url.Values{}}
	for name, values := range r.HTTP.PostForm {
		switch {
		case !slices.Contains(secretFields, name):
			d.Values[name] = values
		case slices.Contains(certificateFields, name) && values[0] != "":
			d.Values.Add(lostFile, name)
		}
	}
	err := r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		d.At, d.User = tx.Now(), r.SessionUser(tx)
		return nil
	})
	if err != nil {
		return ""
	}
	sealed, err := r.Seal(draftPurpose, d)
	if err != nil || len(sealed) > maxDraft {
		return ""
	}
	return sealed
}

// openDraft opens the draft that the form of a sign-in carries; false: it carries none,
// or one that was made more than draftTTL ago. Known: r.Now.
func (r *request) openDraft() (d draft, ok bool) {
	ok = r.Open(draftPurpose, r.Field("draft"), &d)
	return d, ok && draftForms[d.Pattern] != nil && r.Now.Sub(d.At) < draftTTL
}

// Draft is the draft that the form of a sign-in carries, sealed; empty: it carries none that
// can be opened.
func (r *request) Draft() string {
	if _, ok := r.openDraft(); ok {
		return r.Field("draft")
	}
	return ""
}

// restoreDraft shows the form that a sign-in carried, without carrying it out. A draft
// of another person is not shown, nor one of an org that this person does not manage.
func (r *request) restoreDraft() error {
	if err := r.View(nil); err != nil {
		return err
	}
	d, ok := r.openDraft()
	switch {
	case !ok:
		return r.Redirect(r.LocalPath(r.Field("next")))
	case d.User != "" && d.User != r.Account.UserID:
		return r.Redirect(Path)
	}
	r.Pattern, r.Params, r.HTTP.PostForm, r.noticeName = d.Pattern, d.Params, d.Values, "draft-kept"
	if err := r.View(nil); err != nil { // the path has an org now
		return err
	}
	return draftForms[d.Pattern](r)
}

// AfterSignIn leads to the page that the person wanted, or shows the form that was
// sent without a session.
func (r *request) AfterSignIn() error {
	if r.Field("draft") == "" {
		return r.Redirect(r.LocalPath(r.Field("next")))
	}
	return r.restoreDraft()
}

// restoreInstructions keeps the version that the text was made from: when it is saved,
// a change by somebody else in the meantime is noticed as ever.
func (r *request) restoreInstructions() error {
	p := instructionsPage{Text: normalizeLines(r.Field("instructions")), Version: r.Field("version")}
	return r.Show(http.StatusOK, "instructions", &p, func(tx store.Tx) (err error) {
		p.Now, err = tx.Instructions(r.Org.ID)
		return err
	})
}
