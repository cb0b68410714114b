package settings

import (
	"teamdata/store"
)

// endpointPage is what is known of one endpoint.
type endpointPage struct {
	endpointRow
	Types   []eventChoice // those that it selects
	Both    bool          // the old secret signs too
	NotSent bool          // the plan includes no webhooks
}

// endpoint finds the endpoint of the path.
func (r *request) endpoint(tx store.Tx) (store.Endpoint, error) {
	return store.FindEndpoint(tx, r.org.ID, r.param(endpointParam))
}

// endpointPath is the path of a page of the endpoint of the path.
func (r *request) endpointPath(parts ...string) string {
	return r.path(append([]string{"endpoints", r.param(endpointParam)}, parts...)...)
}

func (r *request) showEndpoint() error {
	var p endpointPage
	err := r.view(func(tx store.Tx) (err error) {
		p, err = r.endpointPage(tx)
		return err
	})
	if err != nil {
		return err
	}
	return r.render(200, "endpoint", &p)
}

func (r *request) endpointPage(tx store.Tx) (p endpointPage, err error) {
	e, err := r.endpoint(tx)
	if err != nil {
		return p, err
	}
	rows, err := r.rows(tx, []store.Endpoint{e})
	if err != nil {
		return p, err
	}
	p.endpointRow, p.Both = rows[0], len(e.Secrets(r.now)) > 1
	if p.NotSent, err = r.lacksWebhooks(tx); err != nil {
		return p, err
	}
	choices, err := eventChoices(tx, e.Events)
	for _, c := range choices {
		if c.Chosen {
			p.Types = append(p.Types, c)
		}
	}
	return p, err
}

// sendTest leads to the delivery, where the test can be seen to arrive.
func (r *request) sendTest() error {
	var d store.Delivery
	err := r.change(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, r.org.ID, r.param(endpointParam))
		return err
	})
	if err != nil {
		return err
	}
	return r.done("test-sent", r.path("deliveries", d.ID))
}

func (r *request) enableEndpoint() error {
	return r.actOnEndpoint(store.EnableEndpoint, "endpoint-enabled")
}

func (r *request) disableEndpoint() error {
	return r.actOnEndpoint(store.DisableEndpoint, "endpoint-disabled")
}

func (r *request) actOnEndpoint(act func(tx store.Tx, actorID, orgID, id string) error, done string) error {
	err := r.change(func(tx store.Tx) error { return act(tx, r.actor(), r.org.ID, r.param(endpointParam)) })
	if err != nil {
		return err
	}
	return r.done(done, r.endpointPath())
}

func (r *request) askDisable() error {
	return r.askAboutEndpoint(question{
		Title: "Disable this endpoint?", Button: "Disable", To: "disable",
		Text: []string{
			"Nothing is sent to it until somebody enables it again. Its events are held, not lost: those that are waiting, and all new ones.",
			"When it is enabled, they are sent in order.",
		},
	})
}

func (r *request) askRemove() error {
	return r.askAboutEndpoint(question{
		Title: "Delete this endpoint?", Button: "Delete endpoint", To: "delete", Danger: true,
		Text: []string{
			"Nothing is sent to it any more. Its secret and all its deliveries with their attempts are deleted, including those that are waiting.",
			"This can't be undone. To pause it, disable it instead.",
		},
	})
}

// askAboutEndpoint asks before something is done to the endpoint of the path.
func (r *request) askAboutEndpoint(q question) error {
	err := r.view(func(tx store.Tx) error {
		e, err := r.endpoint(tx)
		q.About = e.URL
		return err
	})
	if err != nil {
		return err
	}
	q.To, q.Back = r.endpointPath(q.To), r.endpointPath()
	return r.render(200, "confirm", q)
}

// removeEndpoint leads to the list, also when its form is sent a second time.
func (r *request) removeEndpoint() error {
	_, _, err := r.once(func(tx store.Tx) (string, error) {
		return "", store.RemoveEndpoint(tx, r.actor(), r.org.ID, r.param(endpointParam))
	})
	if err != nil {
		return err
	}
	return r.done("endpoint-deleted", r.path("endpoints"))
}
