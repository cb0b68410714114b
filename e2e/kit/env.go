package kit

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// Noon is when the clock of an [Env] starts.
var Noon = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

// Env is a store of type S on a file of its own, with a clock that only the test
// moves. Tests of a handler embed it beside what they serve.
type Env[S store.Store] struct {
	testing.TB
	Store     S
	LogOutput *Output
	passed    atomic.Int64 // time since Noon
}

// NewEnv opens a store by open, which is given the path of a new file and the clock
// of the Env, and fills it by seed.
func NewEnv[S store.Store](t testing.TB, open func(path string, now func() time.Time) (S, error), seed func(store.Tx) error) *Env[S] {
	t.Helper()
	env := &Env[S]{TB: t, LogOutput: NewOutput()}
	s, err := open(filepath.Join(t.TempDir(), "teamdata.db"), env.Now)
	Must(t, err)
	t.Cleanup(func() { s.Close() })
	env.Store = s
	env.Update(seed)
	return env
}

func (env *Env[S]) Now() time.Time { return Noon.Add(time.Duration(env.passed.Load())) }

func (env *Env[S]) Advance(d time.Duration) { env.passed.Add(int64(d)) }

func (env *Env[S]) Update(fn func(store.Tx) error) {
	env.Helper()
	Must(env, env.Store.Update(env.Context(), store.All, fn))
}

func (env *Env[S]) View(fn func(store.Tx) error) {
	env.Helper()
	Must(env, env.Store.View(env.Context(), fn))
}
