package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"teamdata/internal/sbom"
	"teamdata/internal/terminal"
)

// mostBytes is more than any binary has, so that an archive can't fill the memory.
const mostBytes = 256 << 20

// bomName is the name of a bill of materials, which is that of its archive but for the
// end.
var bomName = regexp.MustCompile(`^teamdata_([^_/]+)_([a-z]+_[a-z0-9]+)\.cdx\.json$`)

// checkBinaries compares the binary of each archive with its bill of materials.
func checkBinaries(folder string, sums map[string]string, out io.Writer) (faults []string, err error) {
	found := 0
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		parts := bomName.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		found++
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		binary, err := binaryOf(filepath.Join(folder, strings.TrimSuffix(name, ".cdx.json")))
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		modules, err := sbom.Check(text, binary, parts[1])
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %s", name, strings.ReplaceAll(err.Error(), "\n", "; ")))
			continue
		}
		fmt.Fprintf(out, "%s %s is linked from the %s of its bill of materials\n", strings.Replace(parts[2], "_", "/", 1), parts[1], terminal.Count(modules, "module"))
	}
	if found == 0 {
		faults = append(faults, "there is no bill of materials, teamdata_VERSION_OS_ARCH.cdx.json")
	}
	return faults, nil
}

// binaryOf reads the program out of an archive, of which the path has no ending yet.
func binaryOf(archive string) ([]byte, error) {
	f, err := os.Open(archive + ".tar.gz")
	if err == nil {
		defer f.Close()
		return fromTar(f)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	z, err := zip.OpenReader(archive + ".zip")
	if err != nil {
		return nil, fmt.Errorf("its archive can't be read: %w", err)
	}
	defer z.Close()
	for _, entry := range z.File {
		if path.Base(entry.Name) == "teamdata.exe" {
			r, err := entry.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return readAll(r)
		}
	}
	return nil, errors.New("its archive has no teamdata.exe")
}

func fromTar(r io.Reader) ([]byte, error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("its archive can't be read: %w", err)
	}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if err == io.EOF {
			return nil, errors.New("its archive has no program teamdata")
		}
		if err != nil {
			return nil, fmt.Errorf("its archive can't be read: %w", err)
		}
		if entry.Typeflag == tar.TypeReg && path.Base(entry.Name) == "teamdata" {
			return readAll(entries)
		}
	}
}

func readAll(r io.Reader) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err == nil && len(all) > mostBytes {
		err = fmt.Errorf("its program has more than %d bytes", mostBytes)
	}
	return all, err
}
