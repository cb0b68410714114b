package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"

	"teamdata/admin/socket"
	"teamdata/delivery"
	"teamdata/internal/atomicfile"
	"teamdata/internal/hint"
	"teamdata/internal/system"
	"teamdata/server"
	"teamdata/server/clientaddr"
)

// UnixPrefix precedes the path of a Unix socket in --listen.
const UnixPrefix = "unix:"

// publicSocketMode admits this process's group, which should also be the proxy's.
const publicSocketMode = 0o660

// serverConfig returns the settings of the public API.
func (a *App) serverConfig() (server.Config, error) {
	proxies, err := clientaddr.Parse(a.settings.TrustedProxies)
	if err != nil {
		return server.Config{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	page := a.settingsMount()
	return server.Config{
		KeyRate: a.settings.KeyRate, PullRate: a.settings.PullRate, RetrySchedule: a.settings.RetrySchedule, ClientRate: a.settings.ClientRate, Log: a.log, Now: a.now, TestClock: a.settings.Clock != nil,
		Address: a.settings.PublicURL,
		Mounts:  []server.Mount{{Path: "/admin", Handler: a.admin.Remote()}, page}, Home: page.Path,
		StrictTransport: a.hasOwnCertificate,
		Proxies:         proxies, ProxyProtocol: a.settings.ProxyProtocol,
		MaxConns: a.maxConns(), MaxClientConns: a.settings.MaxConnsPerClient,
		Full: a.memory.Full,
	}, nil
}

// hasOwnCertificate reports whether there is a certificate for a name that clients trust
// without knowing this server, so that they may insist on HTTPS.
func (a *App) hasOwnCertificate(name string) bool {
	return a.settings.TLSCert != "" && name != "" || slices.ContainsFunc(a.settings.Domains, func(d string) bool { return strings.EqualFold(d, name) })
}

// maxConns is --max-conns, or less if that would leave too few file descriptors
// for deliveries: half of all, or one per attempt.
func (a *App) maxConns() int {
	files, known := system.OpenFiles()
	if !known || files > math.MaxInt32 {
		return a.settings.MaxConns
	}
	room := int(max(files/2, files-min(files, 2*delivery.DefaultTotal)))
	if a.settings.MaxConns > 0 && a.settings.MaxConns <= room {
		return a.settings.MaxConns
	}
	a.log.Warn().Uint64("openFiles", files).Int("maxConns", room).Str("hint", "raise the limit of open files (LimitNOFILE, ulimit -n), or set --max-conns").
		Msg("the limit of open files is too low for --max-conns; fewer connections are accepted")
	return room
}

// bind binds the public listener, unless a service manager has done so.
func (a *App) bind() (err error) {
	if a.listener, err = a.activated(); a.listener == nil && err == nil {
		a.listener, err = Listen(a.settings.Listen)
	}
	if err != nil || a.settings.Clock == nil {
		return err
	}
	return checkLoopback(a.listener.Addr())
}

// checkLoopback refuses a listener that can be reached from elsewhere, on a server with a
// test clock: where a name leads to, and what a service manager hands over, is known
// only now.
func checkLoopback(address net.Addr) error {
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return nil
	}
	return SettingError{hint.New(fmt.Sprintf("%s can be reached from elsewhere, and --test-clock is for tests on this machine only", address), "listen on 127.0.0.1")}
}

// listenUnix listens on a Unix socket, replacing a stale one.
func listenUnix(path string) (net.Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	conn, err := socket.Dial(context.Background(), path)
	switch {
	case err == nil:
		conn.Close()
		return nil, hint.With(fmt.Errorf("%s is taken by another program that listens there", path), "choose another path with --listen")
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED):
		return nil, hint.With(fmt.Errorf("can't listen on %s: %w", path, err), "choose another path with --listen")
	}
	l, err := socket.Bind(path, publicSocketMode)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// Listen binds a host:port, or a Unix socket. Its errors say what to do.
func Listen(address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, UnixPrefix); ok {
		return listenUnix(path)
	}
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, hint.With(fmt.Errorf("%s is taken by another program (%w)", address, err), "choose another address with --listen, or port 0 for a free one")
	case errors.Is(err, fs.ErrPermission):
		return nil, hint.With(fmt.Errorf("this user may not listen on %s", address), "choose a port from 1024 on with --listen")
	case err != nil:
		return nil, hint.With(fmt.Errorf("can't listen on %s: %w", address, err), "choose another address with --listen")
	}
	return l, nil
}

// sideServer is a server beside the public one.
type sideServer struct {
	http     http.Server
	listener net.Listener // nil: it doesn't listen
}

// open listens on the address of a flag, for small requests over plain HTTP.
func (s *sideServer) open(flag, address, advice string, handler http.Handler) (err error) {
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return hint.With(fmt.Errorf("%s: can't listen on %s: %w", flag, address, err), advice)
	}
	s.http = http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	return nil
}

// serve answers until close.
func (s *sideServer) serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// serveAside serves within the limit of connections. The public server works without it, so
// its failure ends nothing else.
func (a *App) serveAside(s *sideServer, failed string) {
	if err := s.serve(a.server.Limit(s.listener)); err != nil {
		a.log.Error().Err(err).Msg(failed)
	}
}

func (s *sideServer) close() {
	s.http.Close()
	if s.listener != nil {
		s.listener.Close() // for a start that failed
	}
}

// activated returns the socket that a service manager, such as systemd with a
// socket unit, has bound for this process; nil without one. If there are several,
// it is the first.
func (a *App) activated() (net.Listener, error) {
	const advice = "check the socket unit"
	if n, err := strconv.Atoi(os.Getenv("LISTEN_FDS")); err == nil && n > 0 && os.Getenv("LISTEN_PID") == strconv.Itoa(os.Getpid()) && !system.IsOpen(firstHanded+n-1) {
		return nil, SettingError{hint.New(fmt.Sprintf("LISTEN_FDS announces %d sockets, but there are fewer", n), advice)}
	}
	handed := activation.Files(true) // a second start would take what is closed by then
	if len(handed) == 0 {
		return nil, nil
	}
	var unused []string
	for _, file := range handed[1:] {
		unused = append(unused, file.Name())
		file.Close()
	}
	if unused != nil {
		a.log.Warn().Strs("sockets", unused).Msg("only the first of the passed sockets is used: there is one listener")
	}
	defer handed[0].Close() // the listener has its own
	l, err := net.FileListener(handed[0])
	if err == nil && !system.Listens(handed[0]) {
		l.Close()
		err = errors.New("it does not listen")
	}
	if err != nil {
		return nil, SettingError{hint.With(fmt.Errorf("can't listen on the passed socket %s: %w", handed[0].Name(), err), advice)}
	}
	return l, nil
}

// firstHanded is the file descriptor of the first socket that is handed over, as
// sd_listen_fds(3) has it.
const firstHanded = 3

// URL returns where a client on this machine reaches the server, or unix:/path
// for a Unix socket.
func (a *App) URL() string {
	if a.listener.Addr().Network() == "unix" {
		return UnixPrefix + a.listener.Addr().String()
	}
	return a.Base()
}

// onLocalhost is Base with the name localhost, if that leads to the listener.
func (a *App) onLocalhost() string {
	u, err := url.Parse(a.Base())
	if err != nil || !net.ParseIP(u.Hostname()).IsLoopback() {
		return a.Base()
	}
	u.Host = net.JoinHostPort("localhost", u.Port())
	return u.String()
}

// Base returns the base URL of the API for a client on this machine.
func (a *App) Base() string {
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

// Ready signals to a waiting program that the listener is bound.
type Ready struct {
	URL       string `json:"url"`
	PID       int    `json:"pid"`
	CAFile    string `json:"caFile,omitempty"`
	TestClock bool   `json:"testClock,omitempty"` // the server is for tests
}

// Write writes a --ready-file, or with - to the standard output. With an empty file it
// does nothing.
func (r Ready) Write(file string) error {
	if file == "" {
		return nil
	}
	r.PID = os.Getpid()
	ready, err := json.Marshal(r)
	if err != nil {
		return err
	}
	ready = append(ready, '\n')
	if file == "-" {
		_, err = os.Stdout.Write(ready)
	} else {
		err = atomicfile.Write(file, ready, 0o644)
	}
	if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}
