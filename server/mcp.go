package server

import (
	"net/http"
	"net/url"
	"slices"

	"teamdata/internal/netguard"
	"teamdata/server/mcp"
	"teamdata/store"
	"teamdata/wire/web"
)

// mcpRoute is where assistants use the API, over the Model Context Protocol: each
// operation of the API's description is a tool. It stands beside the API's own paths
// because its messages have versions of their own.
var mcpRoute = route{method: "POST", path: "/mcp", features: store.FeatureAPI, handle: (*request).answerMessage}

// mcpChecks come before a message is read. The message decides what it uses, and so
// what its key has to pass.
var mcpChecks = append(slices.Clip(checks),
	(*request).checkOrigin, // 403
	(*request).checkKey,    // 401
)

func (s *Server) serveMCP(common web.Request, rt *route) { s.serveChecked(common, rt, mcpChecks) }

// checkOrigin refuses a request from a web page of another site. Its name could lead
// to this address (DNS rebinding), so the host that was asked for proves nothing,
// unless TLS or the address itself does.
func (r *request) checkOrigin() error {
	origins := r.HTTP.Header["Origin"]
	if len(origins) == 0 || len(origins) == 1 && origins[0] == r.ownOrigin() {
		return nil
	}
	return store.Errorf(store.CodeForbidden, "This request was sent from the page of another site.").Advise("Assistants connect without a browser.")
}

// ownOrigin is the Origin of this server's pages; empty if it is not certain.
func (r *request) ownOrigin() string {
	asked := url.URL{Host: r.HTTP.Host}
	switch {
	case r.s.config.Address != "":
		return r.s.config.Address
	case r.HTTP.TLS != nil, netguard.IsLoopback(asked.Hostname()):
		return web.AddressOf(r.HTTP)
	}
	return ""
}

// answerMessage answers a message. It counts as one request with the key, even if it is
// not valid.
func (r *request) answerMessage() error {
	body, unread := r.ReadBody(maxBody)
	m, refusal := r.introduced().Read(body, r.HTTP.Header)
	var called *tool
	if refusal == nil && m.Method == mcp.CallTool {
		var err error
		if called, err = r.use(m); err != nil {
			return err
		}
	}
	if err := r.pass(useChecks); err != nil {
		return err
	}
	switch {
	case unread != nil:
		return unread
	case refusal != nil:
		r.send(*refusal)
	case m.IsNotification():
		r.send(m.Accepted())
	case m.Method == mcp.CallTool:
		return r.call(called, m)
	case m.Method == mcp.ListTools:
		return r.listTools(m)
	case m.Method == mcp.Ping:
		r.send(m.Pong())
	default:
		return r.introduce(m)
	}
	return nil
}

// pass runs checks up to the first that fails.
func (r *request) pass(checks []func(*request) error) error {
	for _, check := range checks {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// mayUse reports whether the key may use a route, apart from its limit.
func (r *request) mayUse(rt *route) bool {
	with := *r
	with.route = rt
	return with.checkPlan() == nil && with.checkScope() == nil
}

// introduced is how the server introduces itself. The version is that of its answers.
func (r *request) introduced() mcp.Server {
	return mcp.Server{Name: "teamdata", Title: "Team Data API", Version: r.s.config.versions[r.version].date}
}

// introduce answers with the org's instructions to its assistant, if the key may read
// them.
func (r *request) introduce(m *mcp.Message) error {
	var instructions store.Instructions
	if r.mayUse(routeOf("GET", "/assistant/instructions")) {
		var err error
		if instructions, err = r.instructions(); err != nil {
			return err
		}
	}
	r.send(m.Introduction(instructions.Text))
	return nil
}

// listTools answers with the tools that the key may use.
func (r *request) listTools(m *mcp.Message) error {
	tools, err := r.s.tools[r.version]()
	if err != nil {
		return err
	}
	var definitions [][]byte
	for i := range tools {
		if r.mayUse(tools[i].route) {
			definitions = append(definitions, tools[i].Definition)
		}
	}
	r.send(m.Tools(definitions))
	return nil
}

// use finds the tool that a message calls; nil: none. From here on the request
// is one for the tool's route: it passes the same checks and has the same answers,
// which are wrapped.
func (r *request) use(m *mcp.Message) (*tool, error) {
	tools, err := r.s.tools[r.version]()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.Name == m.ToolName })
	if i < 0 {
		return nil, nil
	}
	r.record.tool, r.route, r.wrap = tools[i].Name, tools[i].route, m.ToolResult
	return &tools[i], nil
}

// call lets the handler of the tool's route answer.
func (r *request) call(t *tool, m *mcp.Message) error {
	if t == nil {
		r.send(m.UnknownTool())
		return nil
	}
	request, params, err := t.request(r.HTTP, m.Arguments)
	if err != nil {
		return err
	}
	defer func(itself *http.Request) { r.HTTP = itself }(r.HTTP)
	r.HTTP, r.Params = request, params
	return r.handle()
}
