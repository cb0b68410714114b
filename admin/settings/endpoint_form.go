package settings

import (
	"slices"
	"strings"

	"teamdata/store"
	"teamdata/wire/eventtype"
)

// endpointForm is the form that adds or edits an endpoint, with what the person
// entered.
type endpointForm struct {
	Err            *store.Error // nil: nothing is wrong
	New            bool
	To, Back       string
	store.Endpoint // the page shows no secret of it
	Choices        []eventChoice
	Sent           bool         // the fields are as the person sent them
	Again          bool         // the person has confirmed that another endpoint has the URL
	Head           endpointHead // of an endpoint that exists, as it is
	Both           bool         // the old secret also signs
	Own            bool         // the person brings the secret
}

// AsksAgain reports whether the form asks for confirmation that another endpoint
// has the same URL.
func (f *endpointForm) AsksAgain() bool { return f.Again || f.Err != nil && f.Err.Field == sameURL }

// sameURL is the field that confirms that two endpoints have the same URL.
const sameURL = "same-url"

// checkSameURL rejects the URL of another endpoint, unless the form confirms it.
func (r *request) checkSameURL(tx store.Tx, e store.Endpoint) error {
	others, err := store.WithSameURL(tx, e)
	if err != nil || len(others) == 0 || r.Field(sameURL) != "" {
		return err
	}
	return &store.Error{Code: store.CodeConflict, Field: sameURL, Message: "the endpoint " + others[0] + " has this URL already",
		Advice: "choose another one, or confirm below that events are to be sent there twice"}
}

// eventChoice is an event type that may be chosen, a group of them, or all.
type eventChoice struct {
	Name, Meaning string
	Chosen        bool
}

// eventChoices are all event types: the built-in ones, then the operator's.
func eventChoices(tx store.Tx, chosen []string) (choices []eventChoice, err error) {
	for _, name := range store.BuiltInEventTypes {
		choices = append(choices, eventChoice{name, eventtype.BuiltIn(name).Meaning, slices.Contains(chosen, name)})
	}
	own, err := store.OwnEventTypes(tx)
	for _, t := range own {
		choices = append(choices, eventChoice{t.Name, t.Description, slices.Contains(chosen, t.Name)})
	}
	return choices, err
}

// selectionChoices are what an endpoint may select: all events, and each event type,
// the first of a group after the group.
func selectionChoices(tx store.Tx, chosen []string) ([]eventChoice, error) {
	choices := []eventChoice{{store.AllEvents, "All events, also future ones.", slices.Contains(chosen, store.AllEvents)}}
	types, err := eventChoices(tx, chosen)
	for _, t := range types {
		for _, group := range store.Groups(t.Name) {
			if !slices.ContainsFunc(choices, func(c eventChoice) bool { return c.Name == group }) {
				prefix := strings.TrimSuffix(group, store.AllEvents)
				choices = append(choices, eventChoice{group, "All that begin with " + prefix + ", also future ones.", slices.Contains(chosen, group)})
			}
		}
		choices = append(choices, t)
	}
	return choices, err
}

func (r *request) newEndpoint() error {
	return r.showEndpointForm(200, &endpointForm{New: true})
}

func (r *request) editEndpoint() error { return r.showEndpointForm(200, &endpointForm{}) }

// endpointOfForm is the endpoint that the form describes.
func (r *request) endpointOfForm() store.Endpoint {
	return store.Endpoint{
		OrgID: r.Org.ID, ID: r.Param("endpoint"), URL: r.Field("url"), Description: r.Field("description"),
		Events: r.HTTP.PostForm["events"], Secret: r.ownSecret(),
	}
}

// ownSecret is the secret that the person brings; empty: one is to be generated.
func (r *request) ownSecret() string {
	if r.Field("secretFrom") == "generated" {
		return "" // what is in the field does not count
	}
	return r.Field("secret")
}

// bringsSecret reports whether the form is to be shown with the field for an own secret.
func (r *request) bringsSecret(e *store.Error) bool {
	return r.Field("secretFrom") == "own" || fails(e, "secret")
}

// checkOwnSecret refuses a form that is to have an own secret and has none.
func (r *request) checkOwnSecret() error {
	if r.Field("secretFrom") == "own" && r.Field("secret") == "" {
		return store.Invalid("secret", "is missing or empty").Advise("enter one, or have one generated")
	}
	return nil
}

func (r *request) createEndpoint() error {
	id, _, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		if err := r.checkSameURL(tx, r.endpointOfForm()); err != nil {
			return "", err
		}
		if err := r.checkOwnSecret(); err != nil {
			return "", err
		}
		e, err := store.CreateEndpoint(tx, r.actor(), r.endpointOfForm())
		return e.ID, err
	})
	if err != nil {
		return r.OnForm(err, r.rerenderEndpointForm)
	}
	return r.Redirect(withQuery(r.path("endpoints", id, "setup"), "added", "yes"))
}

func (r *request) updateEndpoint() error {
	err := r.Change(func(tx store.Tx) error {
		e := r.endpointOfForm() // the org is known only now
		old, err := r.endpoint(tx)
		if err == nil && old.URL != e.URL {
			err = r.checkSameURL(tx, e)
		}
		if err != nil {
			return err
		}
		_, err = store.ChangeEndpoint(tx, r.actor(), r.Org.ID, r.Param("endpoint"), store.EndpointChange{
			URL: &e.URL, Description: &e.Description, Events: append([]string{}, e.Events...), // an empty list, and not nil, which means unchanged
		})
		return err
	})
	if err != nil {
		return r.OnForm(err, r.rerenderEndpointForm)
	}
	return r.Done("endpoint-updated", r.endpointPath("settings"))
}

// rerenderEndpointForm shows the form as it was sent, with the error.
func (r *request) rerenderEndpointForm(status int, e *store.Error) error {
	return r.showEndpointForm(status, &endpointForm{Err: e, Sent: true, New: r.Param("endpoint") == "", Endpoint: r.endpointOfForm(), Again: r.Field(sameURL) != "", Own: r.bringsSecret(e)})
}

func (r *request) showEndpointForm(status int, f *endpointForm) error {
	page := "endpoint_form"
	if f.To, f.Back = r.path("new-endpoint"), r.path("endpoints"); !f.New {
		page, f.To, f.Back = "endpoint_settings", r.endpointPath("settings"), r.endpointPath()
	}
	return r.Show(status, page, f, func(tx store.Tx) (err error) {
		if !f.New {
			err = r.findSettings(tx, f)
		}
		if err == nil {
			f.Choices, err = selectionChoices(tx, f.Events)
		}
		return err
	})
}

// findSettings fills in the endpoint of the path, except for the fields of a form that was
// sent.
func (r *request) findSettings(tx store.Tx, f *endpointForm) (err error) {
	f.Head, err = r.endpointHead(tx, "settings")
	if !f.Sent {
		f.Endpoint = f.Head.Endpoint
	}
	f.Both = len(f.Head.Secrets(r.Now)) > 1
	return err
}
