package admin

import (
	"teamdata/store"
	"teamdata/wire/web"
)

// listNodes lists the servers on the data.
func (r *request) listNodes() error {
	nodes, err := r.api.config.Nodes(r.HTTP.Context())
	if err != nil {
		return err
	}
	return r.page(func(_ store.Tx, q web.PageQuery) (store.Page, error) {
		name := func(n store.Node) string { return n.Name }
		return pageOf(nodes, 0, q, name, nodeJSON), nil
	})
}

func nodeJSON(n store.Node) []byte {
	return newObject().text("name", n.Name).text("state", n.State).text("version", n.Version).number("shards", int64(n.Shards)).
		number("clockOffsetMs", n.ClockOffset.Milliseconds()).time("startedAt", n.StartedAt).time("seenAt", n.SeenAt).end()
}
