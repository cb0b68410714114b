package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"syscall"

	"teamdata/admin/socket"
	"teamdata/server"
	"teamdata/server/clientaddr"
)

// unixPrefix is before the path of a Unix socket in --listen.
const unixPrefix = "unix:"

// publicSocketMode lets in the group of this process, which is to be that of the
// proxy too.
const publicSocketMode = 0o660

// checkListen holds the flags about listeners and proxies to one another.
func (s *settings) checkListen() error {
	path, isUnix := strings.CutPrefix(s.Listen, unixPrefix)
	switch {
	case s.MaxConns < 0:
		return errors.New("--max-conns is 0 (no limit) or more")
	case s.MaxConnsPerClient < 0:
		return errors.New("--max-conns-per-client is 0 (no limit) or more")
	case s.ProxyProtocol && len(s.TrustedProxies) == 0 && !isUnix:
		return errors.New("--proxy-protocol needs --trusted-proxies, the proxies that may connect, such as loopback or 10.0.0.7")
	case isUnix && path == "":
		return errors.New("--listen unix: lacks the path of the socket, such as unix:/run/teamdata/http.sock")
	case isUnix && path == socket.Path(s.Socket, s.Data):
		return fmt.Errorf("%s is the socket of the admin API; choose another path with --listen", path)
	case isUnix && s.SMTPURL != "" && s.PublicURL == "":
		return errors.New("--smtp-url on a Unix socket needs --public-url, for the links in mail")
	case isUnix:
		return nil
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("--listen %q is not host:port, such as %s or 0.0.0.0:8443, nor unix:/path", s.Listen, defaultListen)
	}
	return nil
}

// serverConfig are the settings of the public face.
func (a *appliance) serverConfig() (server.Config, error) {
	proxies, err := clientaddr.Parse(a.settings.TrustedProxies)
	if err != nil {
		return server.Config{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	page := a.settingsMount()
	return server.Config{
		KeyRate: a.settings.KeyRate, ClientRate: a.settings.ClientRate, Log: a.log,
		Address: strings.TrimSuffix(a.settings.PublicURL, "/"),
		Mounts:  []server.Mount{{Path: "/admin", Handler: a.admin.Remote()}, page}, Home: page.Path,
		Proxies: proxies, ProxyProtocol: a.settings.ProxyProtocol,
		MaxConns: a.settings.MaxConns, MaxClientConns: a.settings.MaxConnsPerClient,
	}, nil
}

// bind binds the public listener, unless a service manager has done so.
func (a *appliance) bind() (err error) {
	if a.listener, err = a.activated(); a.listener != nil || err != nil {
		return err
	}
	if path, ok := strings.CutPrefix(a.settings.Listen, unixPrefix); ok {
		a.listener, err = listenUnix(path)
	} else {
		a.listener, err = listen(a.settings.Listen)
	}
	return err
}

// listenUnix listens on a Unix socket, in place of one that nobody listens on any
// more.
func listenUnix(path string) (net.Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	conn, err := socket.Dial(context.Background(), path)
	switch {
	case err == nil:
		conn.Close()
		return nil, fmt.Errorf("%s is taken by another program that listens there; choose another path with --listen", path)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("can't listen on %s: %w; choose another path with --listen", path, err)
	}
	l, err := socket.Bind(path, publicSocketMode)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}
