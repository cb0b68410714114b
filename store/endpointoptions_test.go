package store_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
	"teamdata/store"
	"teamdata/store/storetest"
)

// hidden is a value that appears in no error.
const hidden = "hidden-5c1f"

func TestParseRate(t *testing.T) {
	for text, want := range map[string]struct {
		n   int
		per time.Duration
	}{
		"1/s": {1, time.Second}, "10/s": {10, time.Second}, "600/min": {600, time.Minute}, "999999/h": {999999, time.Hour},
		"": {}, "0/s": {}, "01/s": {}, "1000000/s": {}, "-1/s": {}, "+1/s": {}, "1.5/s": {}, "1e3/s": {}, "10/sec": {}, "10/d": {}, "10": {}, "/s": {},
		" 10/s": {}, "10/s ": {}, "10 /s": {}, "10/s\n": {}, "10/S": {}, "١/s": {},
	} {
		n, per, err := store.ParseRate(text)
		if n != want.n || per != want.per || (err == nil) != (want.n > 0) || err != nil && store.CodeOf(err) != store.CodeBadRequest {
			t.Errorf("%q: %d in %s, %v", text, n, per, err)
		}
	}
}

// headers are a change of headers, in pairs of a name and a value.
func headers(pairs ...string) store.SendChange {
	c := store.SendChange{Headers: map[string]*string{}}
	for i := 0; i < len(pairs); i += 2 {
		c.Headers[pairs[i]] = &pairs[i+1]
	}
	return c
}

// What can't be an option is refused with its place and the fix, and changes nothing.
func TestRefusedOptions(t *testing.T) {
	s := &subject{storetest.New(t, opener(nil))}
	s.Seed()
	ours, others := issuer.New(t, "ours"), issuer.New(t, "others")
	until := s.Clock.Now().Add(time.Hour)
	certificate, key := ours.Issue(t, "acme", until)
	other, otherKey := others.Issue(t, "acme", until)
	ended, endedKey := ours.Issue(t, "acme", s.Clock.Now())
	seventeen := headers()
	for i := range store.MaxHeaders + 1 {
		seventeen.Headers[fmt.Sprint("X-", i)] = new("v")
	}
	pair := func(certificate, key string) store.SendChange {
		return store.SendChange{ClientCertificate: &certificate, ClientKey: &key}
	}
	ca := func(text string) store.SendChange { return store.SendChange{CA: &text} }
	encrypted := "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
	older := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMAAA\n-----END RSA PRIVATE KEY-----\n"
	for want, change := range map[string]store.SendChange{
		`headers: has 17 headers; at most 16 are allowed`:                                                                               seventeen,
		`headers: has an empty name; name each header, such as X-Api-Key`:                                                               headers("", hidden),
		`headers: has a name of 257 bytes; at most 256 are allowed`:                                                                     headers(strings.Repeat("x", 257), hidden),
		`headers: has the name "X Key"; a name is of letters, digits and - (RFC 9110), such as X-Api-Key`:                               headers("X Key", hidden),
		`headers: has the name "X-Schlüssel"; a name is of letters, digits and - (RFC 9110), such as X-Api-Key`:                         headers("X-Schlüssel", hidden),
		`headers: has the name "X-Key\r\nHost"; a name is of letters, digits and - (RFC 9110), such as X-Api-Key`:                       headers("X-Key\r\nHost", hidden),
		`headers: has "x-key" twice, in upper and lower case; name each header once`:                                                    headers("X-Key", hidden, "x-key", hidden),
		`headers: has no value for X-Key; give one, or null to remove the header`:                                                       headers("X-Key", ""),
		`headers: has a value of 1025 bytes for X-Key; at most 1024 are allowed`:                                                        headers("X-Key", hidden+strings.Repeat("x", 1025-len(hidden))),
		`headers: has a character in the value of X-Key that is not printable ASCII; encode it, or leave it out`:                        headers("X-Key", hidden+"\r\nHost: a"),
		`headers: has a character in the value of X-Tab that is not printable ASCII; encode it, or leave it out`:                        headers("X-Tab", hidden+"\t"+hidden),
		`headers: has a character in the value of X-Del that is not printable ASCII; encode it, or leave it out`:                        headers("X-Del", hidden+"\x7f"),
		`headers: has a character in the value of X-Eacute that is not printable ASCII; encode it, or leave it out`:                     headers("X-Eacute", hidden+"é"),
		`headers: has a blank at an end of the value of X-Key; leave it out: receivers would not see it`:                                headers("X-Key", hidden+" "),
		`headers: can't set Webhook-Id: the names webhook-* are those of the signature; leave it out`:                                   headers("Webhook-Id", hidden),
		`headers: can't set CONTENT-TYPE: the names content-* describe the body, which is always JSON; leave it out`:                    headers("CONTENT-TYPE", hidden),
		`headers: can't set Proxy-Authorization: the names proxy-* are for a proxy on the way; leave it out`:                            headers("Proxy-Authorization", hidden),
		`headers: can't set Host: it follows from the URL; leave it out`:                                                                headers("Host", hidden),
		`headers: can't set Idempotency-Key: receivers know a repeated event by its webhook-id; leave it out`:                           headers("Idempotency-Key", hidden),
		`headers: can't set Accept-Encoding: answers are read as they are; leave it out`:                                                headers("Accept-Encoding", hidden),
		`headers: can't set Range: it asks for a part of an answer; leave it out`:                                                       headers("Range", hidden),
		`headers: can't set Expect: the body is sent at once; leave it out`:                                                             headers("Expect", hidden),
		`headers: can't set Connection: it is about the connection, which the server makes; leave it out`:                               headers("Connection", hidden),
		`headers: can't set keep-alive: it is about the connection, which the server makes; leave it out`:                               headers("keep-alive", hidden),
		`headers: can't set Upgrade: it is about the connection, which the server makes; leave it out`:                                  headers("Upgrade", hidden),
		`headers: can't set TE: it is about the connection, which the server makes; leave it out`:                                       headers("TE", hidden),
		`headers: can't set Trailer: it is about the connection, which the server makes; leave it out`:                                  headers("Trailer", hidden),
		`headers: can't set Transfer-Encoding: it is about the connection, which the server makes; leave it out`:                        headers("Transfer-Encoding", hidden),
		`headers: can't set HTTP2-Settings: it is about the connection, which the server makes; leave it out`:                           headers("HTTP2-Settings", hidden),
		`rate: is not a rate; write it like 10/s, 600/min or 5000/h: a number from 1 to 999999, and s, min or h`:                        {Rate: new("ten")},
		`maxInFlight: is 33; a whole number from 1 to 32 is expected`:                                                                   {MaxInFlight: new(33)},
		`maxInFlight: is -1; a whole number from 1 to 32 is expected`:                                                                   {MaxInFlight: new(-1)},
		`clientKey: is missing; give it with its clientCertificate`:                                                                     {ClientCertificate: &certificate},
		`clientCertificate: is missing; give it with its clientKey`:                                                                     {ClientKey: &key},
		`clientKey: is not the key of the clientCertificate; give both of one pair`:                                                     pair(certificate, otherKey),
		`clientCertificate: does not begin with the certificate of the key; put that one first, and its issuers behind it`:              pair(other+certificate, key),
		`clientCertificate: holds no certificate in PEM; it begins with -----BEGIN CERTIFICATE-----`:                                    pair(hidden, key),
		`clientCertificate: holds a PRIVATE KEY beside certificates; give the certificates alone`:                                       pair(certificate+key, key),
		`clientCertificate: holds a certificate that is cut off, or damaged; copy the whole file`:                                       pair(certificate+certificate[:len(certificate)/2], key),
		`clientCertificate: holds a certificate, number 2, that can't be read; look at it with: openssl x509 -noout -text`:              pair(certificate+"-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n", key),
		`clientCertificate: has 32769 bytes; at most 32768 are allowed`:                                                                 pair(certificate+strings.Repeat("\n", 32769-len(certificate)), key),
		`clientCertificate: holds 21 certificates; at most 20 are allowed`:                                                              pair(strings.Repeat(certificate, 21), key),
		`clientCertificate: holds a certificate that expired at ` + store.FormatTime(s.Clock.Now()) + `; give the one that replaced it`: pair(ended, endedKey),
		`clientKey: is encrypted; decrypt it first: openssl pkey -in KEY -out PLAIN`:                                                    pair(certificate, encrypted),
		`clientKey: holds a PUBLIC KEY; give the private key alone`:                                                                     pair(certificate, "-----BEGIN PUBLIC KEY-----\nMAAA\n-----END PUBLIC KEY-----\n"),
		`clientKey: holds more than one key; give the one of the clientCertificate`:                                                     pair(certificate, key+otherKey),
		`clientKey: holds no private key in PEM; it begins with -----BEGIN PRIVATE KEY-----`:                                            pair(certificate, hidden),
		`clientKey: has 16385 bytes; at most 16384 are allowed`:                                                                         pair(certificate, key+strings.Repeat("\n", 16385-len(key))),
		`ca: holds no certificate in PEM; it begins with -----BEGIN CERTIFICATE-----`:                                                   ca(hidden),
		`ca: holds 21 certificates; at most 20 are allowed`:                                                                             ca(strings.Repeat(ours.PEM, 21)),
		`ca: has 65537 bytes; at most 65536 are allowed`:                                                                                ca(ours.PEM + strings.Repeat("\n", 65537-len(ours.PEM))),
		`ca: holds a PRIVATE KEY beside certificates; give the certificates alone`:                                                      ca(key),
	} {
		err := s.Update(context.Background(), store.All, changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: change}))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	err := s.Update(context.Background(), store.All, changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: pair(certificate, older)}))
	if err == nil || !strings.Contains(err.Error(), "clientKey: is encrypted; ") {
		t.Errorf("a key that is encrypted in the older way: %v", err)
	}
	for kind, der := range map[string]string{
		"PRIVATE KEY":         "MAAA",                                                             // garbage
		"OPENSSH PRIVATE KEY": "b3BlbnNzaC1rZXktdjEA",                                             // as ssh-keygen begins it
		"DSA PRIVATE KEY":     "MAgCAQACAQECAQE=",                                                 // begins as one
		"X25519 PRIVATE KEY":  "MC4CAQAwBQYDK2VuBCIEIAAr6cEwbtzkjKbdGQdK5+abAwEaQ0cj7tGTMrKvPMhB", // agrees on keys, and signs nothing
		"EC PRIVATE KEY": "MHQCAQEEIC5KJ2GThT3gq4TfVxQ8bZdz0WwMZsHym+CLcnIdVf08oAcGBSuBBAAKoUQDQgAE" +
			"IxozZ3js2FbVGI5c6hW00BbuPKWSIbrLnF6lCbOp2SZQtCP8wzg1IffGHHUzMeGxOFyy1pDGxjcND4yVEyeRmQ==", // on secp256k1
		"P-224 PRIVATE KEY": "MHgCAQAwEAYHKoZIzj0CAQYFK4EEACEEYTBfAgEBBBxXVK9q/t+Z6USeQGsyNo+V8kGjSrIMfYJW5PrFoTwDOgAE" +
			"16QgoCvgNTaOZ7VrfjKwnS605U33WyGEO70YtJDia13PGDhPJdqptthdZYyGQ3i2whu9PGnly7k=",
	} {
		text := "-----BEGIN " + kind + "-----\n" + der + "\n-----END " + kind + "-----\n"
		want := "clientKey: is damaged, or of a kind that TLS can't use; give one of RSA, Ed25519, or ECDSA on P-256, P-384 or P-521"
		err := s.Update(context.Background(), store.All, changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: pair(certificate, text)}))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	e := s.Endpoint("whe_1")
	s.Equal("the options", e.Sending, store.SendOptions{})

	// A header is removed under one name and set under another that differs by case.
	renamed := headers("X-Key", "2", "b", "3")
	renamed.Headers["x-key"], renamed.Headers["B"] = nil, nil
	for _, change := range []store.SendChange{headers("x-KEY", "1"), renamed} {
		s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: change}))
	}
	s.Equal("the names", s.Endpoint("whe_1").Sending.HeaderNames, []string{"b", "X-Key"})
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: store.SendChange{NoHeaders: true}}))

	// At their bounds they are taken.
	delete(seventeen.Headers, "X-0")
	seventeen.Headers["X-1"], seventeen.Headers[strings.Repeat("y", 256)] = new(strings.Repeat("~", 1024)), new("a  b")
	delete(seventeen.Headers, "X-2")
	seventeen.MaxInFlight, seventeen.Rate = new(32), new("999999/h")
	seventeen.ClientCertificate, seventeen.ClientKey, seventeen.CA = &certificate, &key, new(strings.Repeat(ours.PEM, 20))
	s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: seventeen}))
}

func TestRefusedOptionsOfPull(t *testing.T) {
	s := &subject{storetest.New(t, opener(nil))}
	s.Seed()
	s.Write(func(tx store.Tx) error {
		return second(store.CreateEndpoint(tx, ada, store.Endpoint{ID: "whe_p", OrgID: acme, Events: []string{"*"}}))
	})
	certificate, key := issuer.New(t, "ours").Issue(t, "acme", lastMs)
	for option, change := range map[string]store.SendChange{
		"headers": headers("X-Key", "v"), "rate": {Rate: new("1/s")}, "maxInFlight": {MaxInFlight: new(1)},
		"clientCertificate": {ClientCertificate: &certificate}, "clientKey": {ClientKey: &key}, "ca": {CA: &certificate},
	} {
		want := option + ": is not allowed on an endpoint that is pulled, since nothing is sent there; leave it out, or make another endpoint with a URL"
		for what, fn := range map[string]func(store.Tx) error{
			"a change": changeEndpoint(acme, "whe_p", store.EndpointChange{Sending: change}),
			"an import": func(tx store.Tx) error {
				sending, err := store.SendOptions{}.WithChange(change)
				kit.Must(t, err)
				return second(store.ImportEndpoint(tx, store.Endpoint{OrgID: acme, Events: []string{"*"}, Sending: sending}))
			},
		} {
			if err := s.Update(context.Background(), store.All, fn); err == nil || err.Error() != want {
				t.Errorf("%s of %s: %v", what, option, err)
			}
		}
	}
}

// A change sets and removes the headers that it names, and leaves the others; null as the
// whole removes all.
func TestHeadersChange(t *testing.T) { onBoth(t, testHeadersChange) }

func testHeadersChange(s *subject) {
	s.Seed()
	for _, step := range []struct {
		change  store.SendChange
		want    string
		audited bool
	}{
		{headers("X-Api-Key", "one", "b", "two words", "A", "3"), "A: 3, b: two words, X-Api-Key: one", true},
		{headers(), "A: 3, b: two words, X-Api-Key: one", false},
		{headers("X-Api-Key", "one"), "A: 3, b: two words, X-Api-Key: one", false},
		{headers("x-api-key", "other"), "A: 3, b: two words, x-api-key: other", true},
		{store.SendChange{Headers: map[string]*string{"B": nil, "none": nil, "C": new("d")}}, "A: 3, C: d, x-api-key: other", true},
		{store.SendChange{Rate: new("1/s")}, "A: 3, C: d, x-api-key: other", true},
		{store.SendChange{NoHeaders: true, Headers: map[string]*string{"Z": new("z")}}, "Z: z", true},
		{store.SendChange{NoHeaders: true}, "", true},
	} {
		added := s.newAudit(func() { s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: step.change})) })
		e := s.Endpoint("whe_1")
		var got []string
		values := e.Sending.HeaderValues()
		for i, name := range e.Sending.HeaderNames {
			got = append(got, name+": "+values[i])
		}
		s.Equal("headers", strings.Join(got, ", "), step.want)
		s.Equal("audited", strings.Contains(added, `"action":"endpoint.changed"`), step.audited)
	}
	s.shows("the audit entry", s.newAudit(func() {
		s.Write(func(tx store.Tx) error { return second(store.ShowHeaders(tx, ada, acme, "whe_1")) })
	}), `"action":"endpoint.headersShown"`, `"targetId":"whe_1"`)
	s.refused("another org's headers", store.CodeNotFound, func(tx store.Tx) error { return second(store.ShowHeaders(tx, ada, other, "whe_1")) })
}

// A certificate can be replaced and cleared, and its key is stored without what was written
// around it. What is stored isn't judged again by a change of something else.
func TestCertificateChange(t *testing.T) { onBoth(t, testCertificateChange) }

func testCertificateChange(s *subject) {
	s.Seed()
	ca := issuer.New(s, "ours")
	soon := s.Clock.Now().Add(time.Hour)
	certificate, key := ca.Issue(s, "acme", soon)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	kit.Must(s, err)
	change := func(c store.SendChange) store.SendOptions {
		s.Helper()
		s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: c}))
		e := s.Endpoint("whe_1")
		return e.Sending
	}
	got := change(store.SendChange{ClientCertificate: new("Bag Attributes\n" + certificate + ca.PEM), ClientKey: new("\n" + certificate + key + "\n"), CA: new("# ours\r\n" + ca.PEM)})
	s.Equal("the first", got, store.SendOptions{ClientCertificate: certificate + ca.PEM, ClientKey: key, CA: ca.PEM, CertificateEnds: soon})
	s.Clock.Move(2 * time.Hour)
	s.Equal("the CA is cleared once the certificate has ended", change(store.SendChange{CA: new("")}).CertificateEnds, soon)

	later := s.Clock.Now().Add(time.Hour).Truncate(time.Second)
	certificate, key = ca.Issue(s, "acme", later)
	s.Equal("the second", change(store.SendChange{ClientCertificate: &certificate, ClientKey: &key}), store.SendOptions{ClientCertificate: certificate, ClientKey: key, CertificateEnds: later})
	s.Equal("none", change(store.SendChange{ClientCertificate: new("")}), store.SendOptions{})
	certificate, key = issuer.New(s, "x").Issue(s, "x", later)
	change(store.SendChange{ClientCertificate: &certificate, ClientKey: &key})
	s.refused("an RSA key of another", store.CodeBadRequest, changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: store.SendChange{
		ClientKey: new(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}))),
	}}))
}

// The values of headers and the client's key are in a sealed file in no form.
func TestSealedOptions(t *testing.T) {
	for name, sealed := range map[string]bool{"sealed": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			var path string
			open := opener(nil)
			if sealed {
				open = opener(sealKey(t))
			}
			s := &subject{storetest.New(t, func(t testing.TB, p string, now func() time.Time) store.Store {
				path = p
				return open(t, p, now)
			})}
			s.Seed()
			certificate, key := issuer.New(t, "ours").Issue(t, "acme", lastMs)
			change := headers("X-Key", hidden)
			change.ClientCertificate, change.ClientKey = &certificate, &key
			s.Write(changeEndpoint(acme, "whe_1", store.EndpointChange{Sending: change}))
			kit.Must(t, s.Close())
			content, err := os.ReadFile(path)
			kit.Must(t, err)
			for what, secret := range map[string]string{"the value": hidden, "the key": key} {
				if strings.Contains(string(content), secret) == sealed {
					t.Errorf("%s is in the file: %t", what, !sealed)
				}
			}
			s.Reopen()
			e := s.Endpoint("whe_1")
			s.Equal("what is read", []string{e.Sending.HeaderValues()[0], e.Sending.ClientKey}, []string{hidden, key})
		})
	}
}

// Owners are mailed once about each client certificate that ends within 14 days, and the
// operator sees those of 28 days, the first ones first.
func TestClientCertificateExpires(t *testing.T) { onBoth(t, testClientCertificateExpires) }

func testClientCertificateExpires(s *subject) {
	s.Seed()
	s.Write(func(tx store.Tx) error {
		return addMember(tx, store.Member{OrgID: acme, UserID: bob, Role: store.RoleAdmin, Email: "bob@example.com"})
	})
	ca, first := issuer.New(s, "ours"), s.Clock.Now().Add(40*day)
	give := func(id string, until time.Time) {
		s.Helper()
		certificate, key := ca.Issue(s, "acme", until)
		s.Write(changeEndpoint(acme, id, store.EndpointChange{Sending: store.SendChange{ClientCertificate: &certificate, ClientKey: &key}}))
	}
	s.Write(func(tx store.Tx) error {
		_, err := store.CreateEndpoint(tx, ada, store.Endpoint{ID: "whe_p", OrgID: acme, Events: []string{"*"}})
		return errors.Join(err, second(store.CreateEndpoint(tx, ada, store.Endpoint{ID: "whe_2", OrgID: acme, URL: "https://example.com", Events: []string{"*"}})))
	})
	give("whe_1", first)
	give("whe_2", first.Add(-day))
	mails := map[string]bool{} // those that nobody sends are dropped after a while
	at := func(before time.Duration, wantMails int, wantNamed ...string) (latest store.Mail) {
		s.Helper()
		s.Clock.Move(first.Add(-before).Sub(s.Clock.Now()))
		s.sweep(day)
		for _, m := range s.Mails() {
			if m.Template == store.MailClientCertificateExpiring {
				latest, mails[m.ID] = m, true
			}
		}
		var named []string
		s.Read(func(tx store.Tx) error {
			named = nil
			ending, err := tx.EndingClientCertificates()
			for _, c := range ending {
				named = append(named, strings.TrimPrefix(c.Name, "client certificate of org_acme/"))
			}
			return err
		})
		s.Equal(fmt.Sprint("mails ", before, " before"), len(mails), wantMails)
		s.Equal(fmt.Sprint("named ", before, " before"), named, wantNamed)
		return latest
	}
	at(29*day+time.Millisecond, 0)
	at(29*day, 0, "whe_2")
	at(28*day, 0, "whe_2", "whe_1")
	at(15*day, 0, "whe_2", "whe_1")
	m := at(15*day-time.Millisecond, 1, "whe_2", "whe_1")
	s.Equal("the mail", []any{m.To, m.Values}, []any{"bob@example.com", map[string]string{
		"orgName": acme, "endpointId": "whe_2", "endpointName": "whe_2", "endpointUrl": "https://example.com", "expiresAt": store.FormatTime(first.Add(-day)),
	}})
	at(14*day, 1, "whe_2", "whe_1")
	at(13*day, 2, "whe_2", "whe_1")
	s.Write(changeEndpoint(acme, "whe_2", store.EndpointChange{Sending: store.SendChange{Rate: new("1/s")}}))
	at(12*day, 2, "whe_2", "whe_1")
	give("whe_2", first.Add(100*day))
	at(-day, 2, "whe_1")
	at(-90*day, 3, "whe_2") // of the other one it is known by now
}
