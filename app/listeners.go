package app

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

// UnixPrefix is before the path of a Unix socket in --listen.
const UnixPrefix = "unix:"

// publicSocketMode lets in the group of this process, which is to be that of the
// proxy too.
const publicSocketMode = 0o660

// serverConfig are the settings of the public face.
func (a *Appliance) serverConfig() (server.Config, error) {
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
func (a *Appliance) bind() (err error) {
	if a.listener, err = a.activated(); a.listener != nil || err != nil {
		return err
	}
	if path, ok := strings.CutPrefix(a.settings.Listen, UnixPrefix); ok {
		a.listener, err = listenUnix(path)
	} else {
		a.listener, err = Listen(a.settings.Listen)
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

// Listen binds a host:port, and says what to do where that fails.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program (%w); choose another address with --listen, or port 0 for a free one", address, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("this user may not listen on %s; choose a port from 1024 on with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("can't listen on %s: %w; choose another address with --listen", address, err)
	}
	return l, nil
}
