package pgstore

import (
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// A database that hangs, has no connection left or is down keeps nobody who asks for
// the statistics, and what is known of the way to it is told.
func TestStatsWithoutDatabase(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	server := postgres.Start(t)
	proxy := postgres.NewProxy(t, server)
	s := nodes(t, 1, proxy.URL(postgres.Name(t, server.Database(t))), nil)[0]
	stats := func(want store.Code, connections int) {
		t.Helper()
		began := time.Now()
		st, err := s.Stats()
		if got := store.CodeOf(err); got != want || st.Database == nil || st.Database.MaxConnections != readerConnections+writerConnections+coordinating ||
			st.Database.Connections < connections || (st.Size == 0) != (want != "") || time.Since(began) > 2*statsTime {
			t.Errorf("%+v, %+v, %v after %v", st, st.Database, err, time.Since(began))
		}
	}
	stats("", 0)
	proxy.Hold(postgres.ToClient)
	stats(store.CodeUnavailable, 0)
	proxy.Resume(postgres.ToClient)
	var busy []*conn
	for range cap(s.pool.tokens) {
		c, err := s.pool.acquire(t.Context())
		kit.Must(t, err)
		busy = append(busy, c)
	}
	stats(store.CodeUnavailable, len(busy))
	for _, c := range busy {
		s.pool.release(c)
	}
	stats("", 0)
	server.Stop(t, "fast")
	stats(store.CodeUnavailable, 0)
	server.Start(t)
	stats("", 0)
}
