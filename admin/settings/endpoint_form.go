package settings

import (
	"cmp"
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
	store.Endpoint              // the page shows no secret of it
	Groups         []eventGroup // all event types
	Sent           bool         // the fields are as the person sent them
	Again          bool         // the person has confirmed that another endpoint has the URL
	Head           endpointHead // of an endpoint that exists, as it is
	Both           bool         // the old secret also signs
	Own            bool         // the person brings the secret
	Kind           string       // of a new one
	WithKey        bool         // a key is to be made for a new one that is pulled
	Keys           []keyRow     // that may pull from one that exists
	Sends          sendingForm  // not of one that is pulled
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
	return &store.Error{Code: store.CodeConflict, Field: sameURL, Message: "the endpoint " + others[0] + " already has this URL",
		Advice: "choose another one, or confirm below that events should be sent there twice"}
}

// eventChoice is an event type that may be chosen, or a group of them.
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

// eventGroup is a group of event types, as the form offers it: together, or one by one.
type eventGroup struct {
	eventChoice               // takes types that are added later, too; without a name: there is no such choice
	Title       string        // for people
	Types       []eventChoice // the types, each after the smaller groups that it is in
	Signals     bool          // it has the signals, which are no part of all events
}

// groupTitles are the titles of groups that are not just the beginning of their types' names.
var groupTitles = map[string]string{"": "Others", "member": "Members", "file": "Files", "webhook": "Tests", "teamdata": "Signals"}

// eventGroups are all event types in groups, of which the selected ones are chosen. Tests
// are sent to every endpoint, so nobody has to select them.
func eventGroups(tx store.Tx, selected []string) (groups []eventGroup, err error) {
	types, err := eventChoices(tx, nil)
	for _, t := range types {
		if t.Name == store.EventWebhookTest && !slices.ContainsFunc(selected, func(name string) bool { return strings.HasPrefix(name, "webhook.") }) {
			continue
		}
		prefix, names, signal := groupsOf(t.Name, selected)
		in := prefix != ""
		title := cmp.Or(groupTitles[prefix], upperFirst(prefix))
		i := slices.IndexFunc(groups, func(g eventGroup) bool { return g.Title == title })
		if i < 0 {
			i, groups = len(groups), append(groups, eventGroup{Title: title, Signals: signal})
		}
		g := &groups[i]
		for n, name := range names {
			choice := eventChoice{name, t.Meaning, covers(selected, name)}
			if name != t.Name {
				choice.Meaning = "All " + strings.TrimSuffix(name, "."+store.AllEvents) + " events, including types added later"
			}
			switch {
			case n == 0 && signal:
				choice.Meaning = "not part of All events"
				g.eventChoice = choice
			case n == 0 && in:
				g.eventChoice = choice
			case !slices.ContainsFunc(g.Types, func(c eventChoice) bool { return c.Name == name }):
				g.Types = append(g.Types, choice)
			}
		}
	}
	i := slices.IndexFunc(groups, func(g eventGroup) bool { return g.Signals })
	signals := groups[i]
	return append(slices.Delete(groups, i, i+1), signals), err
}

// Short is the name of a type without what its group's says.
func (g eventGroup) Short(name string) string {
	if g.Signals {
		return strings.TrimPrefix(name, signalPrefix)
	}
	return name
}

// Hint is what the form says beside a type; empty: nothing.
func (eventGroup) Hint(name string) string { return signalHints[name] }

// signalHints are short for what signals mean.
var signalHints = map[string]string{
	store.EventEndpointDisabled:    "an endpoint was disabled",
	store.EventEndpointRecovered:   "it takes events again",
	store.EventDeliveryFailed:      "all attempts were used up",
	store.EventAPIKeyExpiring:      "14 days and 1 day before",
	store.EventAPIKeyEnded:         "it expired or was revoked",
	store.EventBackupFailed:        "only in the operator’s org",
	store.EventCertificateExpiring: "only in the operator’s org",
}

// signalPrefix begins the types of signals.
const signalPrefix = "teamdata."

// groupsOf says where the form offers an event type: the beginning of its group, empty: none;
// and the groups that it is in before its own name. Of signals these are all of them, and the
// smaller ones that are selected. An older type of the operator's own that is named like a
// signal is in no group.
func groupsOf(name string, selected []string) (prefix string, names []string, signal bool) {
	prefix, _, in := strings.Cut(name, ".")
	names, signal = append(store.Groups(name), name), store.IsSignal(name)
	switch {
	case signal:
		names = slices.DeleteFunc(names, func(n string) bool {
			return n != signalPrefix+store.AllEvents && n != name && !slices.Contains(selected, n)
		})
	case !in || prefix+"." == signalPrefix:
		return "", []string{name}, false
	}
	return prefix, names, signal
}

// covers reports whether selections take an event type, or all of a group. All events cover no
// group of signals.
func covers(selections []string, name string) bool {
	if strings.HasPrefix(name, signalPrefix) && strings.HasSuffix(name, store.AllEvents) {
		selections = slices.DeleteFunc(slices.Clone(selections), func(s string) bool { return s == store.AllEvents })
	}
	e := store.Endpoint{Events: selections}
	return e.Selects(name)
}

// withoutCovered leaves out the selections that are part of another one: the form shows
// them as chosen along with it.
func withoutCovered(selections []string) []string {
	return slices.DeleteFunc(slices.Clone(selections), func(s string) bool {
		return covers(slices.DeleteFunc(slices.Clone(selections), func(other string) bool { return other == s }), s)
	})
}

// AllChosen reports whether all events are selected.
func (f *endpointForm) AllChosen() bool { return slices.Contains(f.Events, store.AllEvents) }

// Pulls reports whether the endpoint is one that is pulled, or is to be.
func (f *endpointForm) Pulls() bool { return f.Kind == store.KindPull || f.Head.Pull() }

func (r *request) newEndpoint() error {
	return r.showEndpointForm(200, &endpointForm{New: true, WithKey: true})
}

func (r *request) editEndpoint() error { return r.showEndpointForm(200, &endpointForm{}) }

// endpointOfForm is the endpoint that the form describes.
func (r *request) endpointOfForm() store.Endpoint {
	e := store.Endpoint{
		OrgID: r.Org.ID, ID: r.Param("endpoint"), URL: r.Field("url"), Description: r.Field("description"),
		Events: withoutCovered(r.HTTP.PostForm["events"]), Secret: r.ownSecret(),
	}
	if r.Field("kind") == store.KindPull {
		e.URL = "" // what is in the field does not count
	}
	return e
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

// createEndpoint leads to the steps at the receiver. If a key was made along with the endpoint,
// they are the answer: no other page can show its secret.
func (r *request) createEndpoint() error {
	var made madeKey
	id, again, err := r.ChangeOnce(func(tx store.Tx) (string, error) {
		e := r.endpointOfForm()
		if err := store.CheckKind(r.Field("kind"), e.URL); err != nil {
			return "", err
		}
		if err := r.setSending(&e); err != nil {
			return "", err
		}
		if err := r.checkSameURL(tx, e); err != nil {
			return "", err
		}
		if err := r.checkOwnSecret(); err != nil {
			return "", err
		}
		e, err := store.CreateEndpoint(tx, r.actor(), e)
		if err == nil && e.Pull() && r.Field("key") != "" {
			made, err = r.makePullKey(tx, e)
		}
		return e.ID, err
	})
	switch {
	case err != nil:
		return r.OnForm(err, r.rerenderEndpointForm)
	case made.Whole != "" && !again:
		return r.showMadeKey(id, made)
	}
	return r.Redirect(withQuery(r.path("endpoints", id, "setup"), "added", "yes"))
}

func (r *request) updateEndpoint() error {
	err := r.Change(func(tx store.Tx) error {
		e := r.endpointOfForm() // the org is known only now
		old, err := r.endpoint(tx)
		if err == nil && old.URL != e.URL && !old.Pull() {
			err = r.checkSameURL(tx, e)
		}
		if err != nil {
			return err
		}
		change := store.EndpointChange{URL: &e.URL, Description: &e.Description, Events: append([]string{}, e.Events...)} // an empty list, and not nil, which means unchanged
		if old.Pull() {
			change.URL = nil
		} else if change.Sending, err = r.sendChange(); err != nil {
			return err
		}
		_, err = store.ChangeEndpoint(tx, r.actor(), r.Org.ID, r.Param("endpoint"), change)
		return err
	})
	if err != nil {
		return r.OnForm(err, r.rerenderEndpointForm)
	}
	return r.Done("endpoint-updated", r.endpointPath("settings"))
}

// rerenderEndpointForm shows the form as it was sent, with the error.
func (r *request) rerenderEndpointForm(status int, e *store.Error) error {
	return r.showEndpointForm(status, &endpointForm{Err: e, Sent: true, New: r.Param("endpoint") == "", Endpoint: r.endpointOfForm(), Again: r.Field(sameURL) != "", Own: r.bringsSecret(e),
		Kind: r.Field("kind"), WithKey: r.Field("key") != "", Sends: r.sendingOfForm()})
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
			f.Groups, err = eventGroups(tx, f.Events)
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
		f.Sends.fillFields(&f.Sending)
	}
	f.Sends.fill(&f.Head.Sending, r.Now)
	if f.Both = len(f.Head.Secrets(r.Now)) > 1; f.Head.Pull() && err == nil {
		f.Keys, err = r.keysThatPull(tx, f.Head.ID)
	}
	return err
}
