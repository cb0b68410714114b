package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

var shardNames = func() (names [store.Shards]string) {
	for i := range names {
		names[i] = fmt.Sprintf("shard %02d", i)
	}
	return names
}()

// shardOf is the shard of the endpoint with a number.
func shardOf(endpoint uint64) string { return shardNames[endpoint%store.Shards] }

func isShard(lease string) bool { return strings.HasPrefix(lease, "shard ") }

// ownerOf is the node that should have a shard: that of the greatest weight. When a
// node comes or goes, only its own shards move.
func ownerOf(shard string, nodes []string) (owner string) {
	most := uint64(0)
	for _, id := range nodes {
		sum := sha256.Sum256([]byte(shard + " " + id))
		if weight := binary.BigEndian.Uint64(sum[:]); owner == "" || weight > most {
			owner, most = id, weight
		}
	}
	return owner
}

// shareOut decides which shards the node has to take, and from when on it claims
// nothing of those that others should have. Those that it is to keep after all are kept.
func (n *node) shareOut(seen *census) (take, kept []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	sharing := n.sharing(seen)
	for _, shard := range shardNames {
		_, held := n.held[shard]
		leaving := n.leaving[shard]
		switch mine := ownerOf(shard, sharing) == n.id; {
		case mine && !held:
			take = append(take, shard)
		case mine && leaving:
			delete(n.leaving, shard)
			kept = append(kept, shard)
		case !mine && held && !leaving:
			n.leaving[shard] = true
		}
	}
	return take, kept
}

// giveUp forgets the leases of jobs that are done, and the shards that the node claims
// nothing of any more, once all that it had claimed is recorded: another one would make an
// attempt in flight again. The heartbeat that gives them up may do so without an answer;
// if it does not, the next one finds them.
func (n *node) giveUp() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name := range n.held {
		if isShard(name) && n.leaving[name] && n.inFlight[name] == 0 || !isShard(name) && n.jobs[name] == nil {
			names = append(names, name)
			n.lose(name)
		}
	}
	return names
}

// claiming begins to claim deliveries of an endpoint, if the node has its shard. claimed
// is how many are claimed already.
func (n *node) claiming(endpoint uint64) (fence store.Fence, until time.Time, claimed int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	shard := shardOf(endpoint)
	token, held := n.held[shard]
	until = n.lapses()
	if !held || n.leaving[shard] || n.lapsed() {
		return fence, until, 0, false
	}
	n.inFlight[shard]++
	return store.Fence{Endpoint: endpoint, Token: token}, until, n.claimed[endpoint], true
}

// endClaiming ends what claiming began, with what was claimed and its rows, each with its
// version behind it.
func (n *node) endClaiming(endpoint uint64, claims []store.Claim, rows []row) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, c := range claims {
		last := len(rows[i]) - 1
		n.claims[c.Delivery.ID] = claim{endpoint, rows[i][:last:last], rows[i][last]}
	}
	n.claimed[endpoint] += len(claims)
	n.inFlight[shardOf(endpoint)] += len(claims)
	n.landed(endpoint)
}

// outdated reports whether a row of what waits is claimed, and was written since, by its
// version.
func (n *node) outdated(r row) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, claimed := n.claims[string(r[0])]
	return claimed && !bytes.Equal(c.version, r[len(r)-1])
}

// claimOf returns a claim that has not ended; without a row, there is none.
func (n *node) claimOf(deliveryID string) claim {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.claims[deliveryID]
}

// released notes that a claim has ended.
func (n *node) released(deliveryID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, claimed := n.claims[deliveryID]; claimed {
		delete(n.claims, deliveryID)
		n.claimed[c.endpoint]--
		n.landed(c.endpoint)
	}
}

func (n *node) landed(endpoint uint64) {
	if n.claimed[endpoint] == 0 {
		delete(n.claimed, endpoint)
	}
	shard := shardOf(endpoint)
	if n.inFlight[shard]--; n.inFlight[shard] > 0 {
		return
	}
	delete(n.inFlight, shard)
	if n.leaving[shard] {
		n.nudge()
	}
}

// has reports whether the node has the shard of an endpoint.
func (n *node) has(endpoint uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held[shardOf(endpoint)] != 0
}

// handOver gives up all shards, one with claims once these are released.
func (n *node) handOver(ctx context.Context) {
	if n.options.Sole || !n.stop(ctx) {
		return
	}
	select {
	case <-n.stopped:
	case <-ctx.Done():
	case <-n.life.Done():
	}
}

// stop makes the node give up its shards with the next heartbeat, and reports whether it
// has any. A heartbeat that runs now has said that the node is to have its share.
func (n *node) stop(ctx context.Context) bool {
	if n.lockLeases(ctx) != nil {
		return false
	}
	defer n.unlockLeases()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == nodeCommand {
		return false
	}
	n.state = store.NodeStopping
	for name := range n.held {
		if isShard(name) {
			n.leaving[name] = true
		}
	}
	n.nudge()
	return true
}

// checkStopped ends HandOver if nothing is left to be handed over.
func (n *node) checkStopped() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state != store.NodeStopping {
		return
	}
	for name := range n.held {
		if isShard(name) {
			return
		}
	}
	n.stopping.Do(func() { close(n.stopped) })
}
