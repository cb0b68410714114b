// Consumers pull what cannot be sent to them: whatever happens to them, to their requests and
// to servers, they get every event.
package pull_test

import (
	"os"
	"testing"

	"teamdata/e2e/kit/program"
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(consumerVariable); settings != "" {
		consume(settings)
		return
	}
	program.Main(m)
}
