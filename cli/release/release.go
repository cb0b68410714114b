// Package release checks a folder with a release: whether a known key signed it, whether
// each file is what was signed, and whether each binary is linked from the modules that
// its bill of materials lists. .ci/release makes such a folder.
//
// It imports internal packages only; the command is in package cli.
package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// The files of a release that are about the others.
const (
	sumsFile      = "SHA256SUMS"
	signatureFile = "SHA256SUMS.sig"
)

// Verify checks the release in a folder and prints what it found, a line for each file
// with a fault. The signature comes first: without one by a signer nothing else is
// looked at.
func Verify(folder string, signers []Signer, out io.Writer) error {
	text, err := readSums(folder)
	if err != nil {
		return err
	}
	by, err := signedBy(folder, text, signers)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is signed by %s, %s\n", sumsFile, by.Name, fingerprint(by.Key))
	return verifyFiles(folder, text, out)
}

// VerifyUnsigned checks the same as [Verify], without the signature.
func VerifyUnsigned(folder string, out io.Writer) error {
	text, err := readSums(folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the signature of %s was not checked: nothing shows who made these files\n", sumsFile)
	return verifyFiles(folder, text, out)
}

func readSums(folder string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = hint.New(folder+" has no "+sumsFile, "name the folder with all files of a release")
	}
	return text, err
}

// verifyFiles checks the files of a release against the text of its sums, and then its
// programs.
func verifyFiles(folder string, text []byte, out io.Writer) error {
	sums, err := parseSums(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", sumsFile, err)
	}
	faults := checkFiles(folder, sums)
	if len(faults) == 0 {
		fmt.Fprintf(out, "%s as in %s\n", terminal.Count(len(sums), "file"), sumsFile)
		if faults, err = checkBinaries(folder, sums, out); err != nil {
			return err
		}
	}
	for _, fault := range faults {
		fmt.Fprintln(out, terminal.Plain(fault))
	}
	if len(faults) > 0 {
		return hint.New(fmt.Sprintf("%s is not the release that was made: %s", folder, terminal.Count(len(faults), "fault")), "download the files again, and use none of them until then")
	}
	return nil
}

// signedBy returns whose signature the sums have.
func signedBy(folder string, sums []byte, signers []Signer) (by Signer, err error) {
	text, err := os.ReadFile(filepath.Join(folder, signatureFile))
	if errors.Is(err, fs.ErrNotExist) {
		return by, hint.New(folder+" is not signed: it has no "+signatureFile, "get that file too; or, for a release that you made without a key, use --unsigned")
	}
	if err != nil {
		return by, err
	}
	s, err := parseSignature(text)
	if err != nil {
		return by, hint.With(fmt.Errorf("%s is damaged, or no signature of a release: %w", signatureFile, err), "download it again")
	}
	at := slices.IndexFunc(signers, func(one Signer) bool { return one.Key.Equal(s.key) })
	switch {
	case at < 0:
		return by, hint.New(fmt.Sprintf("%s is signed with another key, %s, and not with %s", sumsFile, fingerprint(s.key), fingerprints(signers)),
			"use none of these files, unless you have the new key from its owner")
	case !s.of(sums):
		return by, hint.New(fmt.Sprintf("%s is not what %s signed: it or %s was changed", sumsFile, signers[at].Name, signatureFile), "download both again")
	}
	return signers[at], nil
}

func fingerprints(signers []Signer) string {
	var all []string
	for _, s := range signers {
		all = append(all, fingerprint(s.Key))
	}
	return strings.Join(all, " or ")
}

// parseSums reads the lines of sha256sum: a hash, two spaces or a space and an asterisk,
// and a path below the folder. The result has the hashes in hex, by path.
func parseSums(text string) (sums map[string]string, err error) {
	sums = map[string]string{}
	for line := range strings.Lines(text) {
		sum, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		raw, err := hex.DecodeString(sum)
		if !ok || err != nil || len(raw) != sha256.Size || len(path) < 2 || path[0] != ' ' && path[0] != '*' {
			return nil, fmt.Errorf("%q is not a line of sha256sum", strings.TrimSpace(line))
		}
		if path = path[1:]; !filepath.IsLocal(path) {
			return nil, fmt.Errorf("%q is not a path below the folder", path)
		}
		if _, twice := sums[path]; twice {
			return nil, fmt.Errorf("it has %s twice", path)
		}
		sums[path] = hex.EncodeToString(raw)
	}
	if len(sums) == 0 {
		return nil, errors.New("it lists no file")
	}
	return sums, nil
}

// checkFiles compares the folder with the sums, and says what is changed, missing or
// additional.
func checkFiles(folder string, sums map[string]string) (faults []string) {
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		switch sum, err := sumOf(filepath.Join(folder, path)); {
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, path+" is missing")
		case err != nil:
			faults = append(faults, fmt.Sprintf("%s can't be read: %v", path, err))
		case sum != sums[path]:
			faults = append(faults, path+" was changed")
		}
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		name = filepath.ToSlash(name)
		if _, listed := sums[name]; !listed && name != sumsFile && name != signatureFile {
			faults = append(faults, name+" is additional: it is not part of the release")
		}
		return err
	})
	if err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
