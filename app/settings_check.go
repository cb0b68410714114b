package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	settingspage "teamdata/admin/settings"
	"teamdata/delivery/mail"
	"teamdata/internal/hint"
	"teamdata/internal/netguard"
	"teamdata/internal/terminal"
	"teamdata/server"
	"teamdata/server/certificates"
	"teamdata/server/clientaddr"
	"teamdata/store"
)

// SettingError is an error that only changing a setting, or a file named by one,
// can fix: a restart would fail the same way.
type SettingError struct{ error }

// Unwrap returns what is wrong with the setting.
func (e SettingError) Unwrap() error { return e.error }

// MayBeMounted reports whether an error is about a file whose folder is not there: it may
// be on a disk that is mounted later, so that no setting has to change.
func MayBeMounted(err error) bool {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(missing, fs.ErrNotExist) {
		return false
	}
	_, err = os.Stat(filepath.Dir(missing.Path))
	return errors.Is(err, fs.ErrNotExist)
}

// Check returns the first reason why serve would reject the settings, as a
// SettingError.
func (s *Settings) Check() error {
	if faults := s.Faults(); len(faults) > 0 {
		return SettingError{faults[0]}
	}
	return nil
}

// The ends of rules that several flags have.
const (
	needsDomain = " needs --domain, the name to get a certificate for, such as data.example.com"
	forOthers   = " is for a server that others reach, and --test-clock is for tests on this machine only"
	leaveOutOne = "leave out one of the two"
)

// checkRules checks each number and each time by itself, and which flags go together. A test
// clock is refused on a server that can be reached from elsewhere, as far as the flags show:
// who reaches the admin API can move it. See also checkLoopback.
func (s *Settings) checkRules() (broken []error) {
	shared, test, isUnix := locate(s.Data).shared(), s.Clock != nil, strings.HasPrefix(s.Listen, UnixPrefix)
	https := strings.HasPrefix(s.publicOrigin(), "https://") || s.PublicURL == "" && !s.HTTP
	log, files, domain := server.AccessLog(s.AccessLog), s.TLSCert != "" || s.TLSKey != "", len(s.Domains) > 0
	directory := len(s.ACMEDirectories) > 0 && !slices.Equal(s.ACMEDirectories, []string{certificates.LetsEncrypt})
	for _, r := range []struct {
		kept         bool
		rule, advice string // the advice may be empty
	}{
		{s.KeyRate >= 0, "--key-rate must be 0 (no limit) or more", ""},
		{s.PullRate >= 0, "--pull-rate must be 0 (no limit) or more", ""},
		{s.ClientRate >= 0, "--client-rate must be 0 (no limit) or more", ""},
		{s.MaxConns >= 0, "--max-conns must be 0 (no limit) or more", ""},
		{s.MaxConnsPerClient >= 0, "--max-conns-per-client must be 0 (no limit) or more", ""},
		{s.AttemptTimeout > 0, "--attempt-timeout must be longer than 0, such as 15s", ""},
		{s.DeliveryRetention > 0, "--delivery-retention must be longer than 0, such as 720h", ""},
		{s.HeldRetention > 0, "--held-retention must be longer than 0, such as 2160h", ""},
		{s.BackupEvery >= time.Minute, "--backup-every must be 1m or more, such as 24h", ""},
		{s.BackupKeep >= 1, "--backup-keep must be 1 or more", ""},
		{s.AccessLogSample >= 1, "--access-log-sample must be 1 or more", ""},
		{!hasNonPositive(s.RetrySchedule), "--retry-schedule must hold times longer than 0, such as 1m,5m,25m,125m,625m", ""},
		{!hasNonPositive(s.MailRetrySchedule), "--mail-retry-schedule must hold times longer than 0, such as 1m,5m,25m,2h", ""},
		{log == server.LogAll || log == server.LogErrors || log == server.LogOff, fmt.Sprintf("--access-log %q is not all, errors or off", log), ""},

		{!s.Demo || s.Data == DefaultData && s.Seed == "", "--demo brings its own data", "leave out --data and --seed"},
		{s.SMTPURL == "" || s.MailFrom != "", "--smtp-url needs --mail-from, the address that mail comes from, such as teamdata@example.com", ""},
		{s.SMTPURL != "" || s.OperatorMail == "", "--operator-mail needs --smtp-url, the server that mail goes to, such as smtp://user:password@mail.example.com:587", ""},
		{s.OperatorMail == "" || store.ValidAddress(s.OperatorMail), fmt.Sprintf("--operator-mail %q is not a mail address, such as ops@example.com", s.OperatorMail), ""},
		{s.SMTPURL != "" || s.MailFrom == "", "--mail-from needs --smtp-url, the server that mail goes to, such as smtp://user:password@mail.example.com:587", ""},
		{s.OperatorOrg == "" || store.ValidID(s.OperatorOrg), fmt.Sprintf("--operator-org %q is not the id of an org, such as org_ops", s.OperatorOrg), ""},
		{s.SMTPURL == "" || !isUnix || s.PublicURL != "", "--smtp-url on a Unix socket needs --public-url, for the links in mail", ""},
		{!s.ProxyProtocol || isUnix || len(s.TrustedProxies) > 0, "--proxy-protocol needs --trusted-proxies, the proxies that may connect, such as loopback or 10.0.0.7", ""},

		{s.TLSCert == "" || s.TLSKey != "", "--tls-cert needs --tls-key, the file with the certificate's private key", ""},
		{s.TLSKey == "" || s.TLSCert != "", "--tls-key needs --tls-cert, the file with the key's certificate", ""},
		{!s.HTTP || !files, "--tls-cert is for HTTPS", "leave it out, or --http"},
		{!s.HTTP || !domain, "--domain gets a certificate for HTTPS", "leave it out and let the proxy get one, or leave out --http"},
		{!files || !domain, "--tls-cert and --domain are two certificates", "leave out one"},
		{!s.Demo || !files && !domain, "--demo brings its own certificate", "leave out --tls-cert and --domain"},
		{domain || !s.ACMEAcceptTerms, "--acme-accept-terms" + needsDomain, ""},
		{domain || s.ACMEEmail == "", "--acme-email" + needsDomain, ""},
		{domain || s.ACMEHTTP == "", "--acme-http" + needsDomain, ""},
		{domain || !directory, "--acme-directory" + needsDomain, ""},
		{domain || s.ACMECA == "", "--acme-ca" + needsDomain, ""},
		{len(s.FrameAncestors) == 0 || https, "--frame-ancestors needs HTTPS, because browsers send no cookie to a frame without it", "give --public-url https://…, or leave out --http"},

		{shared || s.StateDir == "", "--state-dir is for a database in --data", "leave it out: what belongs to a data file is put beside it"},
		{shared || s.Node == "", "--node is for a database in --data", "leave it out: a data file has only one server"},
		{s.Node == "" || store.ValidID(s.Node), "--node " + terminal.ShellWord(s.Node) + " is not a name for a node", "give 1 to 64 of A-Z a-z 0-9 _ and -"},
		{!shared || s.BackupDir == "", "--backup-dir is for a data file, and --data is a database", dumpAdvice},

		{!test || s.Seed != "-", "--seed - can be read only once, and with --test-clock a reset reads it again", "give the path of a file"},
		{!test || !isUnix && !isPublic(s.Listen), "--listen " + s.Listen + forOthers, leaveOutOne},
		{!test || !isPublic(s.Metrics), "--metrics " + s.Metrics + forOthers, leaveOutOne},
		{!test || s.PublicURL == "" || isLoopbackURL(s.publicOrigin()), "--public-url" + forOthers, leaveOutOne},
		{!test || !domain, "--domain" + forOthers, leaveOutOne},
		{!test || len(s.TrustedProxies) == 0, "--trusted-proxies" + forOthers, leaveOutOne},
		{!test || !s.ProxyProtocol, "--proxy-protocol" + forOthers, leaveOutOne},
	} {
		switch {
		case r.kept:
		case r.advice != "":
			broken = append(broken, hint.New(r.rule, r.advice))
		default:
			broken = append(broken, errors.New(r.rule))
		}
	}
	return broken
}

func hasNonPositive(times []time.Duration) bool {
	return slices.ContainsFunc(times, func(d time.Duration) bool { return d <= 0 })
}

// isPublic reports whether a host:port is not on this machine. What is none is refused
// elsewhere.
func isPublic(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && !netguard.IsLoopback(host)
}

func isLoopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && netguard.IsLoopback(u.Hostname())
}

// checkListeners checks where the server listens.
func (s *Settings) checkListeners() error {
	if s.Metrics != "" {
		if err := CheckAddress("--metrics", s.Metrics, "127.0.0.1:9464"); err != nil {
			return err
		}
	}
	path, isUnix := strings.CutPrefix(s.Listen, UnixPrefix)
	switch {
	case isUnix && path == "":
		return errors.New("--listen unix: lacks the path of the socket, such as unix:/run/teamdata/http.sock")
	case isUnix && strings.ContainsFunc(path, unicode.IsControl):
		return hint.New(fmt.Sprintf("--listen %q holds a control character", s.Listen), "write the path without it, such as unix:/run/teamdata/http.sock")
	case isUnix && path == SocketPath(s.Socket, s.Data, s.StateDir):
		return hint.With(fmt.Errorf("%s is the socket of the admin API", path), "choose another path with --listen")
	case isUnix:
		return nil
	}
	return CheckAddress("--listen", s.Listen, DefaultListen+" or 0.0.0.0:8443, or unix:/path")
}

// Faults returns the reasons why serve would reject the settings, as far as the
// settings alone show.
func (s *Settings) Faults() (faults []error) {
	add := func(flag string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%w", flag, err))
		}
	}
	add("", locate(s.Data).checkForm("--data"))
	faults = append(faults, s.checkRules()...)
	add("", s.checkACME())
	add("", s.checkListeners())
	add("", checkMemory(s.MemoryLimit))
	_, err := origin(s.PublicURL)
	add("", err)
	_, err = clientaddr.Parse(s.TrustedProxies)
	add("--trusted-proxies: ", err)
	_, err = netguard.ParseCIDRs(s.AllowEndpointCIDR)
	add("--allow-endpoint-cidr: ", err)
	for _, name := range s.Domains {
		add("--domain: ", certificates.CheckDomain(name))
	}
	for _, origin := range s.FrameAncestors {
		add("--frame-ancestors: ", settingspage.CheckAncestor(origin))
	}
	if s.BrandName != "" {
		add("--brand-name: ", settingspage.CheckBrandName(s.BrandName))
	}
	if s.BrandColour != "" {
		add("--brand-colour: ", settingspage.CheckBrandColour(s.BrandColour))
	}
	if s.SMTPURL != "" && s.MailFrom != "" {
		_, err = mail.New(mail.Config{URL: s.SMTPURL, From: s.MailFrom, SettingsURL: cmp.Or(s.publicOrigin(), "https://localhost")})
		add("--smtp-url: ", err)
	}
	return faults
}

// LetsEncryptTerms is the address of the default ACME authority's terms.
const LetsEncryptTerms = "https://letsencrypt.org/repository/"

// checkACME checks the flags about the certificate of --domain.
func (s *Settings) checkACME() error {
	if len(s.Domains) == 0 {
		return nil
	}
	if err := s.checkACMEDirectories(); err != nil {
		return err
	}
	if !s.ACMEAcceptTerms {
		return fmt.Errorf("--domain needs --acme-accept-terms: read the terms of the authority, at %s, and accept them with it", s.acmeTerms())
	}
	if s.ACMEHTTP == "" {
		return nil
	}
	return CheckAddress("--acme-http", s.ACMEHTTP, "0.0.0.0:80")
}

// checkACMEDirectories takes one authority, and a second for when the first can't issue.
func (s *Settings) checkACMEDirectories() error {
	for i, directory := range s.ACMEDirectories {
		if u, err := url.Parse(directory); err != nil || u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("--acme-directory %q is not an https:// URL, such as %s", directory, certificates.LetsEncrypt)
		}
		if slices.Contains(s.ACMEDirectories[:i], directory) {
			return hint.New(fmt.Sprintf("--acme-directory has %s twice", directory), "name another authority as the second, or leave it out")
		}
	}
	if n := len(s.ACMEDirectories); n < 1 || n > 2 {
		return hint.New(fmt.Sprintf("--acme-directory names %d authorities", n), "name one, or two: the second is asked while the first can't issue")
	}
	return nil
}

// acmeTerms says where the terms of each authority are.
func (s *Settings) acmeTerms() string {
	var all []string
	for _, directory := range s.ACMEDirectories {
		terms := LetsEncryptTerms
		if directory != certificates.LetsEncrypt {
			terms = "the address that " + directory + " has as termsOfService"
		}
		all = append(all, terms)
	}
	return strings.Join(all, " and ")
}
