package operator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"
)

// idList is where the ids of a noun's records are.
type idList struct {
	parts []string // of the path
	inOrg bool     // it is below the org
	field string   // the field with the id
}

var (
	orgIDs       = idList{[]string{"orgs"}, false, "id"}
	planIDs      = idList{[]string{"plans"}, false, "name"}
	memberIDs    = idList{[]string{"members"}, true, "userId"}
	keyIDs       = idList{[]string{"keys"}, true, "id"}
	endpointIDs  = idList{[]string{"endpoints"}, true, "id"}
	eventTypeIDs = idList{[]string{"event-types"}, false, "name"}
	tokenIDs     = idList{[]string{"operator-tokens"}, false, "id"}
)

// completeWithin is how long a shell waits for names.
const completeWithin = 2 * time.Second

// complete lets the shell complete a verb's first argument by the ids that the
// API has. What goes wrong completes nothing.
func (k *kit) complete(v verb) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if v.ids.field == "" || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		cmd.SetContext(ctx)
		if fromEnvironment := cmd.Root().PersistentPreRunE; fromEnvironment != nil && fromEnvironment(cmd, nil) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return k.names(cmd, v.ids), cobra.ShellCompDirectiveNoFileComp
	}
}

// names are the ids of the first page of a list.
func (k *kit) names(cmd *cobra.Command, ids idList) (names []string) {
	k.run(cmd, nil, verb{inOrg: ids.inOrg, run: func(s *session, _ []string) error {
		path := pathTo(ids.parts...)
		if ids.inOrg {
			path = s.path(ids.parts...)
		}
		p, err := s.page(path, nil, "", maxPage)
		for _, item := range p.Data {
			var r record
			if json.Unmarshal(item, &r) == nil {
				name, _ := r.find(ids.field)
				names = append(names, name)
			}
		}
		return err
	}})
	return names
}
