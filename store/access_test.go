package store

import (
	"testing"
	"time"
)

// Of several things that keep a key from working, the first is told.
func TestKeyState(t *testing.T) {
	now := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		key     APIKey
		manages bool
		want    KeyState
	}{
		{APIKey{}, true, KeyActive},
		{APIKey{ExpiresAt: now.Add(time.Millisecond)}, true, KeyActive},
		{APIKey{ExpiresAt: now}, true, KeyExpired},
		{APIKey{}, false, KeySuspended},
		{APIKey{ExpiresAt: now}, false, KeyExpired},
		{APIKey{ExpiresAt: now, RevokedAt: now}, false, KeyRevoked},
		{APIKey{RevokedAt: now.Add(time.Hour)}, true, KeyRevoked},
	} {
		access := Access{Key: row.key, CreatorManages: row.manages}
		if got := access.State(now); got != row.want {
			t.Errorf("%+v, whose creator manages: %v, is %s, want %s", row.key, row.manages, got, row.want)
		}
	}
}
