package pgstore

import (
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
)

// A database that is further away takes longer to answer, and its clock is no less right.
func TestInspectFarAway(t *testing.T) {
	const each = 20 * time.Millisecond
	server := postgres.Shared(t)
	proxy := postgres.NewProxy(t, server)
	target, err := ParseTarget(proxy.URL(postgres.Name(t, server.Database(t))))
	kit.Must(t, err)
	proxy.Delay(each)
	i, err := Inspect(bg, target)
	kit.Must(t, err)
	if i.RoundTrip < 2*each || i.Offset.Abs() > i.RoundTrip/2 {
		t.Errorf("a round trip takes %s, and the clock is ahead by %s", i.RoundTrip, i.Offset)
	}
}
