package app

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"teamdata/admin/socket"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// IsDatabase reports whether --data names a PostgreSQL database, and not a file.
func IsDatabase(data string) bool { return pgstore.IsURL(data) }

var (
	urlForm       = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:/`)
	parameterForm = regexp.MustCompile(`^[a-z_]+\s*=`)
)

// CheckData refuses what a flag gives as the path of a data file and is more likely meant
// for a database, or was quoted once too often: a file of that name would be made, and
// show a password. It refuses the URL of a database that can't be read, too.
func CheckData(flag, data string) error {
	what := ""
	switch {
	case IsDatabase(data):
		_, err := pgstore.ParseTarget(data)
		return err
	case strings.TrimSpace(data) != data:
		what = "begins or ends with a blank or a line break"
	case strings.ContainsFunc(data, isInvisible):
		what = "holds a character that is not visible"
	case data != "" && strings.ContainsRune(`"'`, rune(data[0])):
		what = "begins with a quotation mark"
	case urlForm.MatchString(data):
		what = "is a URL, but does not begin with postgres:// in small letters"
	case parameterForm.MatchString(data):
		what = "is a list of parameters, such as host=…"
	default:
		return nil
	}
	return hint.New(flag+" "+what, "write postgres://ROLE@HOST:5432/DATABASE for a database, or ./ before the path of a file that is called so")
}

// isInvisible reports whether nothing of a character is seen in a path, as of a mark of the
// order of bytes.
func isInvisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// Place is --data as people may see it: the path of a file, or the URL of a database
// without its password and options.
func Place(data string) string {
	if !IsDatabase(data) {
		return data
	}
	target, err := pgstore.ParseTarget(data)
	if err != nil {
		return "postgres://…"
	}
	return target.String()
}

// Named is Place, with what is there before it.
func Named(data string) string {
	if IsDatabase(data) {
		return "database " + Place(data)
	}
	return "data file " + data
}

// HasPassword reports whether data is the URL of a database with a password in it.
func HasPassword(data string) (bool, error) {
	if !IsDatabase(data) {
		return false, nil
	}
	target, err := pgstore.ParseTarget(data)
	return err == nil && target.HasPassword(), err
}

// SocketPath is where the admin socket of a server is: elsewhere if that is set, or
// beside the data file, or for a database in the folder of --state-dir.
func SocketPath(elsewhere, data, stateDir string) string {
	return socket.Path(elsewhere, beside(data, stateDir))
}

// beside is how the paths of the files begin that a server keeps beside its data.
func beside(data, stateDir string) string {
	if IsDatabase(data) {
		return filepath.Join(stateDir, "teamdata")
	}
	return data
}

// fileOnly refuses a database for a command that works on whole files.
func fileOnly(data, advice string) error {
	if !IsDatabase(data) {
		return nil
	}
	return SettingError{hint.New("--data is "+Named(data)+", and this command works on a data file", advice)}
}

// The advice for commands that work on whole files.
const (
	dumpAdvice    = "back up a database with pg_dump, or with what its host offers"
	restoreAdvice = "restore a database with pg_restore, or with what its host offers"
	compactAdvice = "PostgreSQL's autovacuum makes free space available again; VACUUM FULL returns it to the disk"
)

// checkData checks --data and what goes with it.
func (s *Settings) checkData() error {
	if err := CheckData("--data", s.Data); err != nil {
		return err
	}
	if s.Demo && (s.Data != DefaultData || s.Seed != "") {
		return hint.New("--demo brings its own data", "leave out --data and --seed")
	}
	if !IsDatabase(s.Data) {
		if s.StateDir != "" {
			return hint.New("--state-dir is for a database in --data", "leave it out: what belongs to a data file is put beside it")
		}
		if s.Node != "" {
			return hint.New("--node is for a database in --data", "leave it out: one server alone uses a data file")
		}
		return nil
	}
	if s.Node != "" && !store.ValidID(s.Node) {
		return hint.New("--node "+terminal.ShellWord(s.Node)+" is no name of a node", "give 1 to 64 of A-Z a-z 0-9 _ and -")
	}
	if s.BackupDir != "" {
		return hint.New("--backup-dir is for a data file, and --data is a database", dumpAdvice)
	}
	return nil
}

// Inspection is the state of a database, for doctor.
type Inspection = pgstore.Inspection

// DatabaseConnections is how many connections a server opens to its database at most.
const DatabaseConnections = pgstore.ServerConnections

// Inspect looks at the database that --data names and changes nothing. The error is
// why it can't be reached. A warning says what is unsafe about the connection; it is
// empty if nothing is.
func Inspect(ctx context.Context, data string) (i Inspection, warning string, err error) {
	target, err := pgstore.ParseTarget(data)
	if err != nil {
		return i, "", err
	}
	i, err = pgstore.Inspect(ctx, target)
	return i, target.Warning(), err
}
