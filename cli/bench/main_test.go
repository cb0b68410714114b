package bench

import (
	"testing"
	"time"
)

// tiny is a run of everything that lasts a moment.
func tiny(t testing.TB) Config {
	return Config{
		Version: "test", Dir: t.TempDir(),
		Rounds: 1, Duration: 40 * time.Millisecond, Events: 200, Rate: 500, Members: 300,
	}
}

// beginSession is a run that is at its beginning.
func beginSession(t testing.TB, c Config) *session {
	t.Helper()
	s, err := newSession(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cleanUp)
	return s
}
