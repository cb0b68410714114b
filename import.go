package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/store/boltstore"
	"teamdata/store/fixture"
	"teamdata/terminal"
)

func importCommand() *cobra.Command {
	var data, keyFile string
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Add the records of a fixture to a data file",
		Long: `Import adds the orgs of a fixture, the JSON that export writes, to a data file
that no server has open; it makes the file if it is not there. All of the fixture
is written, or nothing: it is written to a copy of the data file, which takes its
place once it is on the disk and sound. The disk needs room for both. A fixture
may be far larger than the memory.

With - it comes from stdin, and waits in a file beside the data file until all of
it is there. What it adds is told to no webhook, and in no audit log.`,
		Example: `  teamdata import org.json --data /var/lib/teamdata/teamdata.db
  gunzip < export.json.gz | teamdata import -`,
		Args: exactly("the fixture, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := terminal.StartProgress(cmd, "importing "+args[0])
			sum, sealed, err := importFixture(cmd.Context(), data, keyFile, args[0], func(s fixture.Summary) { p.Tell(counted(s)) })
			p.Stop()
			if err != nil {
				return err
			}
			if sealed {
				fmt.Fprintln(cmd.ErrOrStderr(), toldSealed)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "imported into data file %s: %s\n", data, counted(sum))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "the data `file`; it is made if it is not there")
	cmd.Flags().StringVar(&keyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with, or is to be")
	return cmd
}

// importFixture fills a copy of a data file, which takes its place once all of
// the fixture is in it. sealed tells whether that has sealed the file.
func importFixture(ctx context.Context, data, keyFile, name string, progress func(fixture.Summary)) (sum fixture.Summary, sealed bool, err error) {
	o, err := sealedWith(keyFile)
	if err != nil {
		return sum, false, err
	}
	in, err := openInput(ctx, name, data)
	if err != nil {
		return sum, false, err
	}
	defer in.Close()
	err = boltstore.Rebuild(ctx, data, o, func(s *boltstore.Store) (err error) {
		sealed = s.SealedNow()
		if sum, err = fixture.Import(ctx, s, in, progress); err != nil {
			err = fmt.Errorf("%s: %w; nothing was imported", name, err)
		}
		return err
	})
	switch {
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%s: stopped before the end; data file %s is as it was", name, data)
	case errors.Is(err, boltstore.ErrInUse):
		err = fmt.Errorf("%w; or leave the server running and fill it through its admin API, as docs/admin-api.md says", err)
	}
	return sum, sealed, err
}

// openInput opens a file that is read twice, or stdin. What can be read only
// once is spooled beside the data file.
func openInput(ctx context.Context, name, data string) (*os.File, error) {
	in := os.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in = file
	}
	info, err := in.Stat()
	if err == nil && info.Mode().IsRegular() {
		return in, nil
	}
	defer in.Close()
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; give the path of a fixture", name)
	}
	return spool(ctx, in, data)
}

// spool copies a stream to a file without a name, which is gone when it is
// closed.
func spool(ctx context.Context, in io.Reader, data string) (*os.File, error) {
	file, err := os.CreateTemp(filepath.Dir(data), "."+filepath.Base(data)+".import-*") // with mode 0600
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, io.LimitReader(in, fixture.MaxSize+1))
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done(): // a read from a terminal or a pipe knows no context
		err = errors.New("stopped before the end; nothing was imported")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// counted are the records of a fixture in words.
func counted(s fixture.Summary) string {
	var parts []string
	for _, kind := range []struct {
		n         int
		one, many string
	}{
		{s.Orgs, "org", "orgs"}, {s.Members, "member", "members"}, {s.AuditEntries, "audit entry", "audit entries"},
		{s.APIKeys, "API key", "API keys"}, {s.Endpoints, "endpoint", "endpoints"}, {s.Plans, "plan", "plans"},
		{s.EventTypes, "event type", "event types"}, {s.OperatorTokens, "operator token", "operator tokens"},
	} {
		switch kind.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
