package settings

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/fips140"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	vw "github.com/descope/virtualwebauthn"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// add answers what the page asks of a new passkey with a public key and an id of
// the attacker's choice.
func (d *device) add(id []byte, key any) reply {
	d.Helper()
	public, err := webauthncbor.Marshal(key)
	kit.Must(d, err)
	site := sha256.Sum256([]byte(d.site.ID))
	data := append(site[:], byte(protocol.FlagUserPresent|protocol.FlagUserVerified|protocol.FlagAttestedCredentialData))
	data = append(data, make([]byte, 4+16)...) // the count, and the kind of device
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(id))), id...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": append(data, public...)})
	kit.Must(d, err)
	options, err := vw.ParseAttestationOptions(d.asked("add"))
	kit.Must(d, err)
	client, _ := json.Marshal(map[string]any{"type": "webauthn.create", "challenge": protocol.URLEncodedBase64(options.Challenge), "origin": d.site.Origin})
	answer, _ := json.Marshal(map[string]any{
		"id": passkeyID(id), "rawId": passkeyID(id), "type": "public-key",
		"response": map[string]any{"clientDataJSON": protocol.URLEncodedBase64(client), "attestationObject": protocol.URLEncodedBase64(object)},
	})
	return d.finish("add", string(answer))
}

func head(kind webauthncose.COSEKeyType, alg webauthncose.COSEAlgorithmIdentifier) webauthncose.PublicKeyData {
	return webauthncose.PublicKeyData{KeyType: int64(kind), Algorithm: int64(alg)}
}

func rsaKey(alg webauthncose.COSEAlgorithmIdentifier, bits int, exponent ...byte) webauthncose.RSAPublicKeyData {
	n := make([]byte, (bits+7)/8)
	rand.Read(n)
	n[0], n[len(n)-1] = 0x80>>((8-bits%8)%8), n[len(n)-1]|1
	return webauthncose.RSAPublicKeyData{PublicKeyData: head(webauthncose.RSAKey, alg), Modulus: n, Exponent: exponent}
}

func ecKey(t testing.TB, alg webauthncose.COSEAlgorithmIdentifier, id webauthncose.COSEEllipticCurve, curve elliptic.Curve) webauthncose.EC2PublicKeyData {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	kit.Must(t, err)
	point, err := key.PublicKey.Bytes()
	kit.Must(t, err)
	half := len(point) / 2
	return webauthncose.EC2PublicKeyData{PublicKeyData: head(webauthncose.EllipticKey, alg), Curve: int64(id), XCoord: point[1 : half+1], YCoord: point[half+1:]}
}

// A passkey has a key of a kind that was offered, whose signatures are checked in no
// time.
func TestKeysOfPasskeys(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	good := ecKey(t, webauthncose.AlgES256, webauthncose.P256, elliptic.P256())
	off, wrong, unoffered := good, good, good
	off.YCoord = bytes.Repeat([]byte{1}, 32)
	wrong.Algorithm, unoffered.Algorithm = int64(webauthncose.AlgRS256), int64(webauthncose.AlgESP256)
	edwards := webauthncose.OKPPublicKeyData{PublicKeyData: head(webauthncose.OctetKey, webauthncose.AlgEdDSA), Curve: int64(webauthncose.Ed25519), XCoord: make([]byte, ed25519.PublicKeySize)}
	short, longID := edwards, append([]byte("x"), make([]byte, 1022)...)
	short.XCoord = short.XCoord[1:]
	rs256 := webauthncose.AlgRS256
	for name, row := range map[string]struct {
		id   []byte
		key  any
		want int
	}{
		"P-256":                  {nil, good, 200},
		"P-384":                  {nil, ecKey(t, webauthncose.AlgES384, webauthncose.P384, elliptic.P384()), 200},
		"P-521":                  {nil, ecKey(t, webauthncose.AlgES512, webauthncose.P521, elliptic.P521()), 200},
		"Ed25519":                {nil, edwards, 200},
		"RSA of 2,048 bits":      {nil, rsaKey(rs256, 2048, 1, 0, 1), 200},
		"RSA of 4,096 bits":      {nil, rsaKey(webauthncose.AlgPS512, 4096, 3), 200},
		"off the curve":          {nil, off, 400},
		"EC that says RS256":     {nil, wrong, 400},
		"RSA that says ES256":    {nil, rsaKey(webauthncose.AlgES256, 2048, 1, 0, 1), 400},
		"an algorithm of none":   {nil, unoffered, 400},
		"Ed25519 of 31 bytes":    {nil, short, 400},
		"RSA of 30,000 bytes":    {nil, rsaKey(rs256, 240_000, 1, 0, 1), 400},
		"RSA of 4,097 bits":      {nil, rsaKey(rs256, 4097, 1, 0, 1), 400},
		"RSA of 2,047 bits":      {nil, rsaKey(rs256, 2047, 1, 0, 1), 400},
		"e = 1":                  {nil, rsaKey(rs256, 2048, 1), 400},
		"an even exponent":       {nil, rsaKey(rs256, 2048, 1, 0, 0), 400},
		"e = 2^17+1":             {nil, rsaKey(rs256, 2048, 2, 0, 1), 400},
		"a large exponent":       {nil, rsaKey(rs256, 2048, 0x7f, 0xff, 0xff, 0xff), 400},
		"more than 2 KiB in all": {longID, rsaKey(rs256, 4096, 1, 0, 1), 400},
	} {
		w.Advance(15 * time.Minute)
		if row.id == nil {
			row.id = []byte(name)
		}
		if got := newDevice(w.signedIn("usr_ada"), "usr_ada").add(row.id, row.key); got.Status != row.want {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

// A key that was added before keys were checked signs nobody in.
func TestKeyThatWasNotChecked(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	var key *rsa.PrivateKey
	var err error
	fips140.WithoutEnforcement(func() { key, err = rsa.GenerateKey(rand.Reader, 1024) })
	kit.Must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	kit.Must(t, err)
	public, err := webauthncbor.Marshal(webauthncose.RSAPublicKeyData{PublicKeyData: head(webauthncose.RSAKey, webauthncose.AlgRS256), Modulus: key.N.Bytes(), Exponent: []byte{1, 0, 1}})
	kit.Must(t, err)
	kept, err := json.Marshal(webauthn.Credential{ID: []byte("old"), PublicKey: public})
	kit.Must(t, err)
	w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		return store.AddPasskey(tx, "usr_ada", store.Passkey{ID: passkeyID([]byte("old")), Name: "old", Credential: kept})
	})
	d := newDevice(w.newBrowser(), "usr_ada")
	d.credential = vw.NewCredentialWithImportedKey(vw.KeyTypeRSA, encoded)
	d.credential.ID, d.credential.Counter = []byte("old"), 1
	d.finish("sign-in", d.signed(d.asked("sign-in"))).wants(t, 401, "could not be verified")
}

// hold keeps the store's writer busy until the function that it returns is called.
func (w *env) hold() (release func()) {
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- w.Store.Update(w.Context(), store.All, func(store.Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	return func() {
		close(free)
		if err := <-done; err != nil {
			w.Error(err)
		}
	}
}

// Signatures are verified beside the store's writer: a wrong one is refused while
// the writer is busy.
func TestSignatureIsNoWorkOfTheWriter(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	d.client.Timeout = 10 * time.Second // without the rule, the request waits for the writer
	d.credential.Key = newCredential(w).Key
	answer := d.signed(d.asked("sign-in"))
	defer w.hold()()
	d.finish("sign-in", answer).wants(t, 401, "could not be verified")
}

// Of two sign-ins with the same count, however close, one is from a copy.
func TestCopyAtTheSameTime(t *testing.T) {
	w, _ := newPasskeyEnv(t)
	d := w.withPasskey()
	d.credential.Counter = 1
	release, answers := w.hold(), make(chan int, 2)
	for range cap(answers) {
		other := *d
		other.browser = w.newBrowser()
		answer := other.signed(other.asked("sign-in"))
		go func() { answers <- other.finish("sign-in", answer).Status }()
	}
	release()
	if first, second := <-answers, <-answers; min(first, second) != 200 || max(first, second) < 400 {
		t.Errorf("answered %d and %d", first, second)
	}
}
