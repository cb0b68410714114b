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
	return r.path(append([]string{"webhooks", r.param(endpointParam)}, parts...)...)
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
	return r.render(200, "webhook", &p)
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
		Title: "Disable this endpoint?", Button: "Disable it", To: "disable",
		Text: []string{
			"Nothing is sent there any more until somebody enables it. Its events are held, not lost: those that wait, and all new ones.",
			"Once it is enabled they go out, in their order.",
		},
	})
}

func (r *request) askRemove() error {
	return r.askAboutEndpoint(question{
		Title: "Remove this endpoint?", Button: "Remove it for good", To: "remove", Danger: true,
		Text: []string{
			"Nothing is sent there any more. Its secret goes, and all its deliveries with their attempts, also those that wait.",
			"This can't be undone. To stop for a while, disable it instead.",
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
	return r.render(200, "ask", q)
}

// removeEndpoint leads to the list, also when its form is sent a second time.
func (r *request) removeEndpoint() error {
	_, _, err := r.once(func(tx store.Tx) (string, error) {
		return "", store.RemoveEndpoint(tx, r.actor(), r.org.ID, r.param(endpointParam))
	})
	if err != nil {
		return err
	}
	return r.done("endpoint-removed", r.path("webhooks"))
}
