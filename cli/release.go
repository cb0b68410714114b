package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"teamdata/cli/release"
)

func verifyReleaseCommand() *cobra.Command {
	var file string
	var unsigned bool
	var signers []release.Signer
	cmd := &cobra.Command{
		Use:   "verify-release FOLDER",
		Short: "Check the files of a release, and who signed them",
		Long: `Verify-release checks a folder with all files of a release: SHA256SUMS is signed
with a key that you trust, each file is as it is listed there, none is missing and
none was added, and each program is linked from exactly the modules that its bill
of materials lists. It prints a line for each fault, and exits with 1 if there is
one. It calls no server.

Get the public key from another place than the files: anybody who can change these
can replace a key beside them as well. Two commands check the same, but for the
modules, without this program:

  ssh-keygen -Y verify -f allowed_signers -I teamdata -n file -s SHA256SUMS.sig < SHA256SUMS
  sha256sum -c SHA256SUMS`,
		Example: "  teamdata verify-release . --signers ~/allowed_signers\n  teamdata verify-release dist --unsigned",
		Args:    exactly("the folder with the files of the release"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case unsigned:
				return release.VerifyUnsigned(args[0], cmd.OutOrStdout())
			case len(signers) == 0:
				if signers, err = release.ReadSigners(file); err != nil {
					return fmt.Errorf("--signers: %w", err)
				}
			}
			return release.Verify(args[0], signers, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "signers", "", "a `file` with the keys that may sign, in the form of ssh-keygen's allowed signers")
	f.Func("key", "the public `key` that signs, as in a file that ends in .pub", func(text string) error {
		one, err := release.ParseSigner(text)
		signers = append(signers, one)
		return err
	})
	f.BoolVar(&unsigned, "unsigned", false, "check no signature: this shows that the files are whole, and not who made them")
	cmd.MarkFlagsOneRequired("signers", "key", "unsigned")
	cmd.MarkFlagsMutuallyExclusive("signers", "key", "unsigned")
	return cmd
}
