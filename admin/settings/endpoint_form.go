package settings

import (
	"slices"

	"teamdata/store"
)

// endpointForm is the form that adds or edits an endpoint, as it is shown: with
// what the person gave, but for the secret.
type endpointForm struct {
	Err              *store.Error // nil: nothing is wrong
	New              bool
	To, Back         string
	URL, Description string
	Types            []eventChoice
}

// eventChoice is an event type that an endpoint may select.
type eventChoice struct {
	Name, Meaning string
	Chosen        bool
}

// meanings say when an event of a built-in type is sent.
var meanings = map[string]string{
	store.EventMemberAdded:         "Somebody joins the org.",
	store.EventMemberRemoved:       "Somebody leaves the org or is removed.",
	store.EventSubscriptionChanged: "The org has another subscription.",
	store.EventFileUploaded:        "A file was uploaded.",
	store.EventInstructionsChanged: "The assistant's instructions were set or cleared.",
	store.EventWebhookTest:         "Somebody tries the endpoint out. Tests are sent whatever is chosen here.",
}

// eventChoices are all event types there are: the built-in ones, then the
// operator's.
func eventChoices(tx store.EventTypes, chosen []string) (choices []eventChoice, err error) {
	for _, name := range store.BuiltInEventTypes {
		choices = append(choices, eventChoice{name, meanings[name], slices.Contains(chosen, name)})
	}
	own, err := tx.EventTypes()
	for _, t := range own {
		choices = append(choices, eventChoice{t.Name, t.Description, slices.Contains(chosen, t.Name)})
	}
	return choices, err
}

func (v *visit) newEndpoint() error {
	f := endpointForm{New: true}
	err := v.view(func(tx store.Tx) (err error) {
		f.Types, err = eventChoices(tx, nil)
		return err
	})
	if err != nil {
		return err
	}
	return v.renderEndpointForm(200, f)
}

func (v *visit) editEndpoint() error {
	var f endpointForm
	err := v.view(func(tx store.Tx) error {
		e, err := v.endpoint(tx)
		if err != nil {
			return err
		}
		f.URL, f.Description = e.URL, e.Description
		f.Types, err = eventChoices(tx, e.Events)
		return err
	})
	if err != nil {
		return err
	}
	return v.renderEndpointForm(200, f)
}

func (v *visit) createEndpoint() error {
	form := v.r.PostForm
	id, _, err := v.once(func(tx store.Tx) (string, error) {
		e, err := store.CreateEndpoint(tx, v.actor(), store.Endpoint{
			OrgID: v.org.ID, URL: form.Get("url"), Description: form.Get("description"),
			Events: form["events"], Secret: form.Get("secret"),
		})
		return e.ID, err
	})
	if err != nil {
		return v.endpointFormAgain(err)
	}
	return v.done("endpoint-added", v.path("webhooks", id))
}

func (v *visit) changeEndpoint() error {
	form := v.r.PostForm
	url, description := form.Get("url"), form.Get("description")
	err := v.change(func(tx store.Tx) error {
		_, err := store.ChangeEndpoint(tx, v.actor(), v.org.ID, v.param(endpointParam), store.EndpointChange{
			URL: &url, Description: &description, Events: append([]string{}, form["events"]...), // none is not the same as left out
		})
		return err
	})
	if err != nil {
		return v.endpointFormAgain(err)
	}
	return v.done("endpoint-changed", v.endpointPath())
}

// endpointFormAgain shows the form that was sent, with what is wrong.
func (v *visit) endpointFormAgain(err error) error {
	e, ok := formError(err)
	if !ok {
		return err
	}
	form := v.r.PostForm
	f := endpointForm{Err: e, New: v.param(endpointParam) == "", URL: form.Get("url"), Description: form.Get("description")}
	err = v.view(func(tx store.Tx) (err error) {
		f.Types, err = eventChoices(tx, form["events"])
		return err
	})
	if err != nil {
		return err
	}
	return v.renderEndpointForm(e.Code.Status(), f)
}

func (v *visit) renderEndpointForm(status int, f endpointForm) error {
	if f.To, f.Back = v.path("new-webhook"), v.path("webhooks"); !f.New {
		f.To, f.Back = v.endpointPath("edit"), v.endpointPath()
	}
	return v.render(status, "webhook_form", f)
}
