package app

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// firstHanded is the first file descriptor that a service manager hands over.
const firstHanded = 3

// activated is the socket that a service manager, such as systemd with a socket
// unit, has bound for this process; nil without one. Of several the first is
// taken. The protocol is that of sd_listen_fds(3).
func (a *Appliance) activated() (net.Listener, error) {
	pid, count, names := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_FDNAMES")
	if pid != strconv.Itoa(os.Getpid()) {
		return nil, nil // none, or for a process before this one
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name) // a second start would take what is closed by then
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("LISTEN_FDS is %q, and LISTEN_PID says that there is a socket; check the socket unit", count)
	}
	handed := handedOver(n, names)
	for _, file := range handed[1:] {
		a.log.Warn().Str("socket", file.Name()).Msg("a handed over socket is not used: there is one listener")
		file.Close()
	}
	defer handed[0].Close() // the listener has its own
	l, err := net.FileListener(handed[0])
	if err != nil {
		return nil, fmt.Errorf("the handed over socket %s can't be listened on: %w; check the socket unit", handed[0].Name(), err)
	}
	return l, nil
}

// handedOver are the files of sockets that were handed over, with their names in
// the service manager.
func handedOver(n int, names string) (files []*os.File) {
	list := strings.Split(names, ":")
	for i := range n {
		name := strconv.Itoa(firstHanded + i)
		if i < len(list) && list[i] != "" {
			name = list[i]
		}
		files = append(files, os.NewFile(uintptr(firstHanded+i), name))
	}
	return files
}
