package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func statusCommand(k *kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "The server and its data file", Args: cobra.NoArgs,
		Long:    "Status prints what there is to know of the server and of its data file, and what\nwaits to be sent.",
		Example: examples("status\nstatus --json"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return k.run(cmd, args, verb{run: func(s *session, _ []string) error {
			return s.ask(http.MethodGet, "/status", nil, "version")
		}})
	}
	k.bind(cmd.Flags())
	return cmd
}
