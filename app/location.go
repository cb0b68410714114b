package app

import (
	"context"
	"io"

	"teamdata/admin/socket"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/pgstore"
	"teamdata/wire/fixture"
)

// location is where data is kept: a file or a database. What differs between the two is
// in their methods; nothing else asks which it is.
type location interface {
	// String returns it as people may see it: without a password and options.
	String() string
	// named is String after the words for what it is.
	named() string
	// shared reports whether other nodes may work on the data.
	shared() bool
	// checkForm refuses what a flag gives and can't be meant.
	checkForm(flag string) error
	// fileOnly refuses a database, with advice, for a command that works on whole files.
	fileOnly(advice string) error
	// hasPassword reports whether the text of the location holds a password.
	hasPassword() (bool, error)
	// missing returns fs.ErrNotExist if nothing is there to be opened.
	missing() error
	// beside is how the paths of the files begin that a server keeps beside its data.
	beside(stateDir string) string
	// spool is the folder and the base of the name of a temporary file for its input.
	spool() (folder, base string)

	open(ctx context.Context, o boltstore.Options, m member) (opened, error)
	check(ctx context.Context, found func(fault string)) error
	checkKey(ctx context.Context, o boltstore.Options) (sealed bool, err error)
	// fixtures go in and out whole. sealed reports whether that sealed the data.
	importFixture(ctx context.Context, o boltstore.Options, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error)
	exportFixture(ctx context.Context, o boltstore.Options, w io.Writer, secrets bool, progress func(fixture.Summary)) error
	// read calls fn with the data, which nobody else uses then, and which is to be
	// carried to another location.
	read(ctx context.Context, o boltstore.Options, to location, fn func(store.Source) error) error
	// fill calls fn with an empty engine, whose data is there once fn returns nil.
	fill(ctx context.Context, o boltstore.Options, fn func(store.Carrier) error) error
}

// locate returns the location that --data names.
func locate(data string) location {
	if IsDatabase(data) {
		return database(data)
	}
	return file(data)
}

// IsDatabase reports whether --data names a PostgreSQL database, and not a file.
func IsDatabase(data string) bool { return pgstore.IsURL(data) }

// CheckData refuses what a flag gives as the path of a data file and is more likely meant
// for a database, or was quoted once too often: a file of that name would be made, and
// show a password. It refuses the URL of a database that can't be read, too.
func CheckData(flag, data string) error { return locate(data).checkForm(flag) }

// Place is --data as people may see it: the path of a file, or the URL of a database
// without its password and options.
func Place(data string) string { return locate(data).String() }

// Named is Place, with what is there before it.
func Named(data string) string { return locate(data).named() }

// HasPassword reports whether data is the URL of a database with a password in it.
func HasPassword(data string) (bool, error) { return locate(data).hasPassword() }

// SocketPath is where the admin socket of a server is: elsewhere if that is set, or
// beside the data file, or for a database in the folder of --state-dir.
func SocketPath(elsewhere, data, stateDir string) string {
	return socket.Path(elsewhere, locate(data).beside(stateDir))
}
