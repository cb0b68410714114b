package settings

import (
	"net/netip"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/internal/ratelimit"
)

// A ceremony is the time between the question to an authenticator and its answer.
const (
	ceremonyTTL   = 5 * time.Minute
	maxCeremonies = 4096
	begunByClient = 60 // within ceremonyTTL
)

// ceremonies are those on their way, by their challenges. When there are too many,
// the oldest is forgotten; a client alone can't begin as many.
type ceremonies struct {
	begun *ratelimit.Limiter[netip.Prefix]

	mu        sync.Mutex
	underWay  map[string]ceremony
	beginning []string // challenges in the order of their beginning; some are over
}

type ceremony struct {
	data    webauthn.SessionData
	session string // id of the one that adds a passkey; empty for a sign-in
	begunAt time.Time
}

func newCeremonies() *ceremonies {
	return &ceremonies{
		begun:    ratelimit.New[netip.Prefix](begunByClient, ceremonyTTL, maxTracked),
		underWay: map[string]ceremony{},
	}
}

func (c *ceremonies) begin(y ceremony) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.beginning) == maxCeremonies {
		delete(c.underWay, c.beginning[0])
		c.beginning = c.beginning[1:]
	}
	c.underWay[y.data.Challenge] = y
	c.beginning = append(c.beginning, y.data.Challenge)
}

// end takes a ceremony out: its challenge is good once.
func (c *ceremonies) end(challenge, session string, now time.Time) (webauthn.SessionData, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	y, ok := c.underWay[challenge]
	delete(c.underWay, challenge)
	return y.data, ok && y.session == session && now.Sub(y.begunAt) < ceremonyTTL
}
