package app

import (
	"encoding/json"
	"fmt"
	"net"
	"os"

	"teamdata/internal/atomicfile"
)

// URL is where the server listens: where a client on this machine reaches it, or
// unix:/path on a Unix socket.
func (a *Appliance) URL() string {
	if a.listener.Addr().Network() == "unix" {
		return UnixPrefix + a.listener.Addr().String()
	}
	return a.Base()
}

// Base is what is before the paths of the API for a client on this machine.
func (a *Appliance) Base() string {
	scheme, host := "https", ""
	if a.tls == nil {
		scheme = "http"
	}
	address, ok := a.listener.Addr().(*net.TCPAddr)
	if !ok {
		return scheme + "://localhost"
	}
	if host = address.IP.String(); address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(address.Port)))
}

// WriteReadyFile tells a waiting program that the listener is bound. Without a
// file there is nobody to tell.
func WriteReadyFile(file, url, caFile string) error {
	if file == "" {
		return nil
	}
	ready, err := json.Marshal(struct {
		URL    string `json:"url"`
		PID    int    `json:"pid"`
		CAFile string `json:"caFile,omitempty"`
	}{url, os.Getpid(), caFile})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(file, append(ready, '\n'), 0o644); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}
