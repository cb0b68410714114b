package settings

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"teamdata/internal/canonical"
	"teamdata/internal/signature"
)

// deliveryCurl is a command that sends a delivery as an attempt would now, byte for byte. It
// has the signature and no secret. The body goes through a pipe: it may be longer than
// an argument can be.
func (r *request) deliveryCurl(d deliveryRow, body []byte) (string, error) {
	signed, err := signedHeaders(d, r.Now, body)
	if err != nil {
		return "", err
	}
	to, err := canonical.URL(d.Endpoint.URL)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("printf %s " + shellQuoted(string(body)) + " |\ncurl " + r.endpointCA(to) + "--globoff --data-binary @- \\\n")
	for _, header := range append([]string{"content-type: application/json", "user-agent: teamdata/" + r.s.config.Version}, signed...) {
		b.WriteString("  -H " + shellQuoted(header) + " \\\n")
	}
	b.WriteString("  " + shellQuoted(to.String()))
	return b.String(), nil
}

// signedHeaders are the headers that sign a delivery at a time, with the secrets that the
// endpoint has for it now.
func signedHeaders(d deliveryRow, at time.Time, body []byte) ([]string, error) {
	var secrets []signature.Secret
	for _, text := range d.Endpoint.Secrets(at) {
		secret, err := signature.ParseSecret(text)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	signed := signature.Sign(nil, d.ID, at.Unix(), body, secrets...)
	return []string{"webhook-id: " + d.ID, "webhook-timestamp: " + strconv.FormatInt(at.Unix(), 10), "webhook-signature: " + string(signed)}, nil
}

// endpointCA is the option that makes curl trust an endpoint on this machine or in its
// network: one with a name has a certificate that curl trusts anyhow.
func (r *request) endpointCA(u *url.URL) string {
	if r.s.config.EndpointCA == "" {
		return ""
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && u.Hostname() != "localhost" {
		return ""
	}
	return "--cacert " + shellQuoted(r.s.config.EndpointCA) + " "
}

// curlAPI is a command that calls the API with the key in the variable TEAMDATA_KEY.
func (r *request) curlAPI(options, path string) string {
	return r.curl(options, r.s.config.PublicURL+"/api/v1"+path)
}

// curl is a command that calls an address with the key in the variable TEAMDATA_KEY.
func (r *request) curl(options, url string) string {
	return "curl " + r.s.config.CurlOptions + options + "\\\n  -H \"Authorization: Bearer $TEAMDATA_KEY\" \\\n  " + url
}

// shellQuoted is a text as a word of a shell. What a page does not show as it is, such
// as a character that turns the direction of the text, is escaped as bash, zsh and
// BusyBox know it.
func shellQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\'':
			b.WriteString(`'\''`)
		case r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || size > 1):
			b.WriteString(text[:size])
		default:
			b.WriteString(`'$'`)
			for _, c := range []byte(text[:size]) {
				b.WriteString(`\x` + strconv.FormatUint(uint64(c)|0x100, 16)[1:])
			}
			b.WriteString(`''`)
		}
		text = text[size:]
	}
	b.WriteByte('\'')
	return b.String()
}
