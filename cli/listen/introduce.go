package listen

import (
	"fmt"
	"net"
	"net/netip"

	"teamdata/delivery/receiver"
	"teamdata/internal/terminal"
)

// introduce prints how to reach the receiver, or where it pulls from; to stderr if stdout has
// lines for scripts.
func (l *listening) introduce() {
	to := l.out
	if l.settings.JSON {
		to = l.notes
	}
	about := func(name, url string) {
		fmt.Fprintf(to, "teamdata listen\n\n  %-7s  %s\n  secrets  %s\n  answer   %s\n\n", name, url, l.secretsText(), l.answerText())
	}
	if l.pulling != nil {
		about("pull", l.pulling.url.String())
		fmt.Fprint(to, "Stop with Ctrl-C. Events:\n\n")
		return
	}
	about("URL", l.url())
	if l.tls == nil {
		fmt.Fprint(to, "Let a tunnel or a proxy with TLS lead here, and give its URL to an endpoint:\n\n",
			"  "+l.endpointCreate("https://TUNNEL/")+"\n\n")
	} else {
		fmt.Fprintf(to, "Start a server on this machine so that it sends here:\n\n  teamdata serve %s\n\n", l.serveFlags())
		fmt.Fprintf(to, "Make an endpoint of it:\n\n  %s\n\n", l.endpointCreate(l.url()))
	}
	fmt.Fprint(to, "Stop with Ctrl-C. Events:\n\n")
}

// endpointCreate is the command for an endpoint whose events are verified here.
func (l *listening) endpointCreate(url string) string {
	command := "teamdata endpoint create --org ORG --url " + url + " --events member.added"
	switch file := l.settings.SecretFile; {
	case len(l.secrets) == 1 && file != "" && file != "-":
		command += " --secret-file " + terminal.ShellWord(file)
	case len(l.secrets) > 0: // which of them, or in which file, isn't known
		command += " --secret-file FILE"
	}
	return command
}

func (l *listening) secretsText() string {
	switch n := len(l.secrets); n {
	case 0:
		return "none: events are " + string(receiver.Unverified) + "; give the endpoint's with --secret-file"
	case 1:
		return "1, to verify events with"
	default:
		return fmt.Sprintf("%d, of which any may verify an event", n)
	}
}

func (l *listening) answerText() string {
	text := fmt.Sprint(l.settings.Status)
	if l.forward != nil {
		text = "that of " + l.forward.String()
	}
	if l.settings.Delay > 0 {
		text += fmt.Sprintf(", after %s", l.settings.Delay)
	}
	return text
}

// serveFlags are what a server needs to send here.
func (l *listening) serveFlags() string {
	flags := "--allow-endpoint-cidr " + l.cidr()
	if l.caFile != "" {
		return "--webhook-ca " + terminal.ShellWord(l.caFile) + " " + flags
	}
	return flags + "   # and --webhook-ca FILE, if no public CA issued your certificate"
}

// host is the address under which a client on this machine gets here.
func (l *listening) host() netip.Addr {
	address := l.listener.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	if address.IsUnspecified() {
		return netip.MustParseAddr("127.0.0.1")
	}
	return address
}

// cidr is what a server has to be allowed.
func (l *listening) cidr() string {
	host := l.host().WithZone("")
	if host.Is4() && host.IsLoopback() {
		return "127.0.0.0/8"
	}
	return netip.PrefixFrom(host, host.BitLen()).String()
}

// url is what to give to an endpoint.
func (l *listening) url() string {
	scheme, port := "https", fmt.Sprint(l.listener.Addr().(*net.TCPAddr).Port)
	if l.tls == nil {
		scheme = "http"
	}
	return scheme + "://" + net.JoinHostPort(l.host().String(), port) + "/"
}
