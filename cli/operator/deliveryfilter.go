package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"teamdata/internal/hint"
)

// filterFlags are the fields of a filter of deliveries. That of the API for query is q.
var filterFlags = []string{"endpoint", "state", "type", "status", "since", "until", "query"}

const statesHelp = `A STATE is pending before the first attempt, retrying until the next one, held while
the endpoint is disabled, failed after the last attempt, or acknowledged. waiting is
any of the first three; unsuccessful is failed, or waiting for a retry.`

func bindFilter(f *pflag.FlagSet) {
	f.String("endpoint", "", "only those to an endpoint, by its `id`")
	f.String("state", "", "only those in a `state`, such as failed or waiting")
	f.String("type", "", "only those of events of a `type`, or of a group such as 'member.*'")
	f.String("status", "", "only those last answered with a `status` such as 500, of a class such as 5xx, or none for no answer")
	f.Var(&timeFlag{sign: -1}, "since", "only those last attempted since a `time` such as 2026-11-21T12:00:00Z, or how long ago, such as 24h")
	f.Var(&timeFlag{sign: -1}, "until", "only those last attempted before a `time`")
	f.String("query", "", "only the delivery, or the deliveries of the event, with an `id`")
}

// filter is a filter as the API takes it, with the times that are said from now.
func (s *session) filter(fields object) (object, error) {
	if query, ok := fields["query"]; ok {
		delete(fields, "query")
		fields["q"] = query
	}
	return fields, s.resolveTimes(fields)
}

// parseFilter reads the fields of a filter from texts such as state=failed.
func parseFilter(texts []string) (object, error) {
	fields := object{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || value == "":
			return nil, hint.New(fmt.Sprintf("--filter: %.60q is not a field with a value", text), "it is written like state=failed,since=24h")
		case !slices.Contains(filterFlags, name):
			return nil, hint.New(fmt.Sprintf("--filter: %.40q is not a field of deliveries", name), "there are "+strings.Join(filterFlags, ", "))
		case fields[name] != nil:
			return nil, fmt.Errorf("--filter: %s is given twice", name)
		case name != "since" && name != "until":
			fields[name] = value
			continue
		}
		at := &timeFlag{sign: -1}
		if err := at.Set(value); err != nil {
			return nil, fmt.Errorf("--filter: %s: %w", name, err)
		}
		fields[name] = valueOf(at)
	}
	return fields, nil
}
