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
func (v *visit) endpoint(tx store.Tx) (store.Endpoint, error) {
	return store.FindEndpoint(tx, v.org.ID, v.param(endpointParam))
}

// endpointPath is the path of a page of the endpoint of the path.
func (v *visit) endpointPath(parts ...string) string {
	return v.path(append([]string{"webhooks", v.param(endpointParam)}, parts...)...)
}

func (v *visit) showEndpoint() error {
	var p endpointPage
	err := v.view(func(tx store.Tx) (err error) {
		p, err = v.endpointPage(tx)
		return err
	})
	if err != nil {
		return err
	}
	return v.render(200, "webhook", &p)
}

func (v *visit) endpointPage(tx store.Tx) (p endpointPage, err error) {
	e, err := v.endpoint(tx)
	if err != nil {
		return p, err
	}
	rows, err := v.rows(tx, []store.Endpoint{e})
	if err != nil {
		return p, err
	}
	p.endpointRow, p.Both = rows[0], len(e.Secrets(v.now)) > 1
	if p.NotSent, err = v.lacksWebhooks(tx); err != nil {
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
func (v *visit) sendTest() error {
	var d store.Delivery
	err := v.change(func(tx store.Tx) (err error) {
		d, err = store.SendTest(tx, v.org.ID, v.param(endpointParam))
		return err
	})
	if err != nil {
		return err
	}
	return v.done("test-sent", v.path("deliveries", d.ID))
}

func (v *visit) enableEndpoint() error {
	return v.actOnEndpoint(store.EnableEndpoint, "endpoint-enabled")
}

func (v *visit) disableEndpoint() error {
	return v.actOnEndpoint(store.DisableEndpoint, "endpoint-disabled")
}

func (v *visit) actOnEndpoint(act func(tx store.Tx, actorID, orgID, id string) error, done string) error {
	err := v.change(func(tx store.Tx) error { return act(tx, v.actor(), v.org.ID, v.param(endpointParam)) })
	if err != nil {
		return err
	}
	return v.done(done, v.endpointPath())
}

func (v *visit) askDisable() error {
	return v.askAboutEndpoint(question{
		Title: "Disable this endpoint?", Button: "Disable it", To: "disable",
		Text: []string{
			"Nothing is sent there any more until somebody enables it. Its events are held, not lost: those that wait, and all new ones.",
			"Once it is enabled they go out, in their order.",
		},
	})
}

func (v *visit) askRemove() error {
	return v.askAboutEndpoint(question{
		Title: "Remove this endpoint?", Button: "Remove it for good", To: "remove", Danger: true,
		Text: []string{
			"Nothing is sent there any more. Its secret goes, and all its deliveries with their attempts, also those that wait.",
			"This can't be undone. To stop for a while, disable it instead.",
		},
	})
}

// askAboutEndpoint asks before something is done to the endpoint of the path.
func (v *visit) askAboutEndpoint(q question) error {
	err := v.view(func(tx store.Tx) error {
		e, err := v.endpoint(tx)
		q.About = e.URL
		return err
	})
	if err != nil {
		return err
	}
	q.To, q.Back = v.endpointPath(q.To), v.endpointPath()
	return v.render(200, "ask", q)
}

// removeEndpoint leads to the list, also when its form is sent a second time.
func (v *visit) removeEndpoint() error {
	_, _, err := v.once(func(tx store.Tx) (string, error) {
		return "", store.RemoveEndpoint(tx, v.actor(), v.org.ID, v.param(endpointParam))
	})
	if err != nil {
		return err
	}
	return v.done("endpoint-removed", v.path("webhooks"))
}
