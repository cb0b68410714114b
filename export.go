package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/store/boltstore"
	"teamdata/store/fixture"
	"teamdata/terminal"
)

func exportCommand() *cobra.Command {
	var x exporting
	cmd := &cobra.Command{
		Use:   "export [FILE|-]",
		Short: "Write the records of a data file as JSON, also while it is served",
		Long: `Export writes the orgs in a data file, their members, audit logs, instructions,
keys and endpoints, and the plans, event types and operator tokens, as a fixture:
JSON with a record to a line, which import reads. The same records give the same
bytes. It works from a copy of one moment of the data file, made beside it; while
a server has the file open, the server makes the copy, and goes on serving.

It leaves out events, deliveries and their counts, mail, idempotency records,
certificates, when keys were used last, and how people sign in: a backup has
these. It holds the endpoints' secrets in plain text, and the hashes of the keys'
secrets: keep it as you would keep a password file.`,
		Example: `  teamdata export org.json --data /var/lib/teamdata/teamdata.db
  teamdata export | gzip > export.json.gz`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("one file to write, or - for stdout")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if x.to = "-"; len(args) > 0 {
				x.to = args[0]
			}
			p := terminal.StartProgress(cmd, "exporting "+x.data)
			sum, err := x.run(cmd.Context(), cmd.OutOrStdout(), func(s fixture.Summary) { p.Tell(counted(s)) })
			p.Stop()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "exported from data file %s: %s\n", x.data, counted(sum))
			return nil
		},
	}
	cmd.Flags().StringVar(&x.data, "data", defaultData, "the data `file`")
	cmd.Flags().StringVar(&x.keyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with")
	cmd.Flags().BoolVar(&x.force, "force", false, "write over a file that is there")
	return cmd
}

// exporting is an export about to be made.
type exporting struct {
	data, keyFile string
	to            string // a file, or - for stdout
	force         bool
}

// run exports to stdout, or to a file that has its name only once it is whole.
func (x *exporting) run(ctx context.Context, stdout io.Writer, progress func(fixture.Summary)) (sum fixture.Summary, err error) {
	write := func(w io.Writer) error {
		return x.export(ctx, w, func(s fixture.Summary) { sum = s; progress(s) })
	}
	if x.to == "-" {
		err = write(stdout)
	} else {
		err = createWhole(x.to, x.force, write)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("stopped before the end")
	}
	return sum, err
}

// export writes what a copy of the data file holds.
func (x *exporting) export(ctx context.Context, w io.Writer, progress func(fixture.Summary)) error {
	o, err := sealedWith(x.keyFile)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(x.data), "."+filepath.Base(x.data)+".export-") // with mode 0700
	if err != nil {
		return fmt.Errorf("data file %s can't be copied beside it: %w", x.data, err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "copy.db")
	if err := backup(ctx, x.data, path, io.Discard); err != nil {
		return err
	}
	o.NoSync = true
	s, err := boltstore.Open(path, o)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), path, x.data))
	}
	defer s.Close()
	os.RemoveAll(folder) // it is open; a killed export leaves nothing behind
	return fixture.Export(ctx, s, w, progress)
}

// createWhole has a private file written that has its name only once it is
// whole and on the disk; without force it takes the place of no other.
func createWhole(path string, force bool, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return alreadyThere(path)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it has its place
	err = write(temp)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if force {
		return os.Rename(temp.Name(), path)
	}
	err = os.Link(temp.Name(), path) // which takes nobody's place
	if errors.Is(err, fs.ErrExist) {
		return alreadyThere(path)
	}
	if err != nil { // there are no hard links here
		err = os.Rename(temp.Name(), path)
	}
	return err
}

func alreadyThere(path string) error {
	return fmt.Errorf("there is a file %s already; give another name, or write over it with --force", path)
}
