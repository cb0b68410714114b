package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"teamdata/admin/socket"
	"teamdata/delivery/mail"
	"teamdata/internal/netguard"
	"teamdata/server"
	"teamdata/server/clientaddr"
)

// Check tells why serve would refuse the settings, the first thing that is wrong.
func (s *Settings) Check() error {
	switch {
	case s.KeyRate < 0:
		return errors.New("--key-rate is 0 (no limit) or more")
	case s.ClientRate < 0:
		return errors.New("--client-rate is 0 (no limit) or more")
	case s.AttemptTimeout <= 0:
		return errors.New("--attempt-timeout is longer than 0, such as 15s")
	case s.DeliveryRetention <= 0:
		return errors.New("--delivery-retention is longer than 0, such as 720h")
	case s.BackupEvery < time.Minute:
		return errors.New("--backup-every is 1m or more, such as 24h")
	case s.BackupKeep < 1:
		return errors.New("--backup-keep is 1 or more")
	}
	if hasNonPositive(s.RetrySchedule) {
		return errors.New("--retry-schedule holds times longer than 0, such as 1m,5m,25m,125m,625m")
	}
	if hasNonPositive(s.MailRetrySchedule) {
		return errors.New("--mail-retry-schedule holds times longer than 0, such as 1m,5m,25m,2h")
	}
	if err := s.checkMail(); err != nil {
		return err
	}
	if err := s.checkTLS(); err != nil {
		return err
	}
	if err := s.checkObserving(); err != nil {
		return err
	}
	return s.checkListen()
}

func hasNonPositive(times []time.Duration) bool {
	return slices.ContainsFunc(times, func(d time.Duration) bool { return d <= 0 })
}

// checkObserving holds the flags for those who look after the appliance to what
// they may say.
func (s *Settings) checkObserving() error {
	switch server.AccessLog(s.AccessLog) {
	case server.LogAll, server.LogErrors, server.LogOff:
	default:
		return fmt.Errorf("--access-log %q is none of all, errors, off", s.AccessLog)
	}
	if s.AccessLogSample < 1 {
		return errors.New("--access-log-sample is 1 or more")
	}
	if _, _, err := net.SplitHostPort(s.Metrics); s.Metrics != "" && err != nil {
		return fmt.Errorf("--metrics %q is not host:port, such as 127.0.0.1:9464", s.Metrics)
	}
	return nil
}

// checkMail holds the flags about mail to one another.
func (s *Settings) checkMail() error {
	switch {
	case s.SMTPURL != "" && s.MailFrom == "":
		return errors.New("--smtp-url needs --mail-from, the address that mail comes from, such as teamdata@example.com")
	case s.SMTPURL == "" && s.OperatorMail != "":
		return errors.New("--operator-mail needs --smtp-url, the server that mail goes to, such as smtp://user:password@mail.example.com:587")
	case s.SMTPURL == "" && s.MailFrom != "":
		return errors.New("--mail-from needs --smtp-url, the server that mail goes to, such as smtp://user:password@mail.example.com:587")
	}
	return nil
}

// checkListen holds the flags about listeners and proxies to one another.
func (s *Settings) checkListen() error {
	path, isUnix := strings.CutPrefix(s.Listen, UnixPrefix)
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
		return fmt.Errorf("--listen %q is not host:port, such as %s or 0.0.0.0:8443, nor unix:/path", s.Listen, DefaultListen)
	}
	return nil
}

// Faults are why serve would refuse the settings, as far as they say so by
// themselves.
func (s *Settings) Faults() (faults []error) {
	add := func(flag string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%w", flag, err))
		}
	}
	add("", s.Check())
	_, err := clientaddr.Parse(s.TrustedProxies)
	add("--trusted-proxies: ", err)
	_, err = netguard.ParseCIDRs(s.AllowEndpointCIDR)
	add("--allow-endpoint-cidr: ", err)
	if s.SMTPURL != "" && s.MailFrom != "" {
		_, err = mail.New(mail.Config{URL: s.SMTPURL, From: s.MailFrom, SettingsURL: cmp.Or(s.PublicURL, "https://localhost")})
		add("", err)
	}
	return faults
}
