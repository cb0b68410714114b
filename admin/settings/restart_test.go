package settings

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"teamdata/admin/settings/signin/password"
	"teamdata/store"
	"teamdata/store/storetest"
)

// notes keeps what the settings page logs.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(line []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(line)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// newSettings is New with passwords that cost little.
func newSettings(s store.Store, c Config) *Settings {
	c.Passwords = password.New(password.Cost{Memory: 64, Passes: 1, Threads: 1})
	return New(s, c)
}

// restart serves the env's store by a settings page with another configuration,
// and returns what that logs.
func (w *env) restart(change func(*Config)) *notes {
	w.Helper()
	w.server.Close()
	log := &notes{}
	w.server = httptest.NewUnstartedServer(nil)
	c := Config{PublicURL: "https://" + w.server.Listener.Addr().String(), Version: "1.2.3", Log: zerolog.New(log), Mailed: func() {}}
	change(&c)
	w.server.Config.Handler = newSettings(storetest.Scoped(w, w.Store), c)
	w.server.StartTLS()
	w.Cleanup(w.server.Close)
	if !strings.HasPrefix(c.PublicURL, w.server.URL) {
		w.server.URL = c.PublicURL // a name, which the server's own client finds
	}
	return log
}
