package app

import (
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

// localhostPort is where the demo's pages are, unless it is taken.
const localhostPort = "8080"

// openLocalhost listens on http://localhost, for --demo alone. Browsers open that without
// a warning and have passkeys there; they don't know the CA of the demo's certificate. It
// serves everything that the HTTPS listener does, so that the commands on a page work at
// the address of the page, and need no CA either.
func (a *App) openLocalhost() (err error) {
	if !a.settings.Demo || a.settings.HTTP { // then the listener is what browsers open
		return nil
	}
	const advice = "leave out --demo, or free a port of this machine"
	v4, v6 := &a.localhost[0], &a.localhost[1]
	handler := onlyAsLocalhost(func(w http.ResponseWriter, r *http.Request) { a.server.ServeHTTP(w, r) })
	for _, port := range []string{localhostPort, "0"} {
		if err = v4.open("--demo", "127.0.0.1:"+port, advice, handler); err != nil {
			continue
		}
		err = v6.open("--demo", net.JoinHostPort("::1", portOf(v4.listener)), advice, handler)
		if !errors.Is(err, syscall.EADDRINUSE) { // else the name leads some browsers to another program
			return nil // without IPv6, localhost is 127.0.0.1
		}
		v4.close()
	}
	return err
}

// serveLocalhost serves what openLocalhost opened, until close.
func (a *App) serveLocalhost() {
	for i := range a.localhost {
		if s := &a.localhost[i]; s.listener != nil {
			s.http.ReadTimeout, s.http.WriteTimeout = 30*time.Second, time.Minute // as over HTTPS
			go a.serveAside(s, "http://localhost is not served any more; restart the demo")
		}
	}
}

// localhostURL is the origin that openLocalhost listens at; empty: it does not.
func (a *App) localhostURL() string {
	if a.localhost[0].listener == nil {
		return ""
	}
	return "http://localhost:" + portOf(a.localhost[0].listener)
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// onlyAsLocalhost refuses requests for other names. A site can make its own name lead to
// this machine, and would then be let in as if the pages were its own.
func onlyAsLocalhost(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "localhost" {
			http.Error(w, "This is the demo of teamdata, at the name localhost only.", http.StatusMisdirectedRequest)
			return
		}
		next(w, r)
	})
}
