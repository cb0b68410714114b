package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

// keygen runs ssh-keygen, whose signatures are what is verified here.
func keygen(t testing.TB, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		kit.MustSkip(t, "ssh-keygen is not installed; on Debian: apt-get install openssh-client")
	}
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %v: %v\n%s", args, err, out)
	}
}

// newKey makes a key, and reads its public half.
func newKey(t testing.TB) (file string, signer Signer) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	keygen(t, "-q", "-t", "ed25519", "-N", "", "-C", "a comment", "-f", file)
	signer, err := ParseSigner(kit.ReadText(t, file+".pub"))
	kit.Must(t, err)
	return file, signer
}

// sign signs the sums anew.
func (f *folder) sign(key string, options ...string) {
	f.Helper()
	os.Remove(filepath.Join(f.path, signatureFile))
	if len(options) == 0 {
		options = []string{"-n", "file"}
	}
	keygen(f, append(append([]string{"-q", "-Y", "sign", "-f", key}, options...), filepath.Join(f.path, sumsFile))...)
}

// The signature is checked before anything else, and only a given key's is accepted.
func TestSignature(t *testing.T) {
	f := newFolder(t)
	otherKey, other := newKey(t)
	f.mustSay("is signed with another key, "+fingerprint(f.signer.Key)+", and not with "+fingerprint(other.Key), other)
	if _, text, _ := f.verify(other, f.signer); text != "" {
		t.Errorf("one of two keys: %s", text)
	}
	f.sign(f.key, "-n", "file", "-O", "hashalg=sha256")
	if _, text, _ := f.verify(f.signer); text != "" {
		t.Errorf("of a SHA-256: %s", text)
	}
	f.sign(f.key, "-n", "git")
	f.mustSay(`made for "git", not for "file"`, f.signer)
	f.sign(otherKey)
	f.mustSay("is signed with another key", f.signer)
	f.sign(f.key)
	f.write(sumsFile, f.read(sumsFile)+strings.Repeat("00", 32)+"  more\n")
	f.mustSay("SHA256SUMS is not what the key given signed", f.signer)
	kit.Must(t, os.Remove(filepath.Join(f.path, signatureFile)))
	f.mustSay("is not signed", f.signer)
	rsa := filepath.Join(t.TempDir(), "rsa")
	keygen(t, "-q", "-t", "ecdsa", "-N", "", "-f", rsa)
	f.sign(rsa)
	f.mustSay(`"ecdsa-sha2-nistp256", and only ssh-ed25519 is supported`, f.signer)
}

// Whatever byte of a signature or of what it signs is changed, it does not verify.
func TestEachByteOfSignature(t *testing.T) {
	f := newFolder(t)
	sums, text := f.read(sumsFile), f.read(signatureFile)
	verifies := func(sums, text string) bool {
		s, err := parseSignature([]byte(text))
		return err == nil && s.key.Equal(f.signer.Key) && s.of([]byte(sums))
	}
	if !verifies(sums, text) {
		t.Fatal("it does not verify")
	}
	for i := range text {
		for bit := range 8 {
			if changed := text[:i] + string([]byte{text[i] ^ 1<<bit}) + text[i+1:]; verifies(sums, changed) {
				t.Errorf("it verifies with %q in place of %q at %d", changed[i], text[i], i)
			}
		}
		if verifies(sums, text[:i]) {
			t.Errorf("it verifies with only %d bytes", i)
		}
	}
	for i := range sums {
		if verifies(sums[:i]+string([]byte{sums[i] ^ 1})+sums[i+1:], text) {
			t.Errorf("it verifies with another byte %d of the sums", i)
		}
	}
}

func TestReadSigners(t *testing.T) {
	key, signer := newKey(t)
	public := strings.Join(strings.Fields(kit.ReadText(t, key+".pub"))[:2], " ")
	file := filepath.Join(t.TempDir(), "allowed_signers")
	for text, names := range map[string]string{
		"a " + public + "\n": "a",
		"# who\n\na@b.example namespaces=\"file\" " + public + " c": "a@b.example",
		"r ssh-rsa AAAA\nb " + public + "\na " + public:             "b a",
	} {
		kit.WriteFile(t, file, text)
		signers, err := ReadSigners(file)
		var got []string
		for _, s := range signers {
			if !s.Key.Equal(signer.Key) {
				t.Errorf("%q has another key", text)
			}
			got = append(got, s.Name)
		}
		if err != nil || strings.Join(got, " ") != names {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                                      "has no key of the type ssh-ed25519",
		public:                                  "line 1: not the line of a signer",
		"a ssh-ed25519":                         "line 1: not the line of a signer",
		"\na\n":                                 "line 2: not the line of a signer",
		"r ssh-rsa AAAA":                        "has no key of the type ssh-ed25519",
		"a valid-before=\"20200101\" " + public: "options valid-before=\"20200101\" are not supported",
		"a namespaces=\"git\" " + public:        "are not supported",
		"a " + public[:len(public)-4]:           "line 1: the key is cut off",
		"a " + public[:len(public)-1]:           "line 1: the key is not whole",
	} {
		kit.WriteFile(t, file, text)
		if signers, err := ReadSigners(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, signers, err)
		}
	}
}

func FuzzSignature(f *testing.F) {
	file, _ := newKey(f)
	content := filepath.Join(f.TempDir(), "content")
	kit.WriteFile(f, content, "content")
	keygen(f, "-q", "-Y", "sign", "-f", file, "-n", "file", content)
	f.Add(kit.ReadText(f, content+".sig"))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSignature([]byte(text))
		if err == nil && s.of([]byte("something else")) {
			t.Error("it verifies what was never signed")
		}
	})
}
