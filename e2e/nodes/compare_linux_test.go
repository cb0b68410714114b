package nodes_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"teamdata/delivery"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// clusterRound is what happened to a node, and what came of it.
type clusterRound struct {
	kind        string
	node        *clusterNode
	began, over time.Time
	wentOn      time.Duration  // until others sent what was accepted for endpoints that the node had; 0: at once, or it was not looked at
	waited      time.Duration  // the longest that a request took which was answered meanwhile
	again       map[string]int // requests beyond what was recorded, by endpoint
}

// record notes what happens while something is done, and until that is over.
func (c *cluster) record(kind string, n *clusterNode, do func()) {
	c.Helper()
	r := &clusterRound{kind: kind, node: n, began: time.Now(), again: map[string]int{}}
	c.mu.Lock()
	c.rounds = append(c.rounds, r)
	c.mu.Unlock()
	do()
	c.settle()
	r.over = time.Now()
}

// waited notes how long a request took.
func (c *cluster) waited(began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rounds) > 0 {
		r := c.rounds[len(c.rounds)-1]
		r.waited = max(r.waited, time.Since(began))
	}
}

// sqlWitness makes the database itself write down which node wrote each outcome, and who
// had the endpoint's shard then.
const sqlWitness = `CREATE SCHEMA witness;
	CREATE TABLE witness.outcomes (tx bigint, delivery text, owner text);
	CREATE TABLE witness.commits (tx bigint PRIMARY KEY, node text);
	CREATE FUNCTION witness.outcome() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO witness.outcomes SELECT txid_current(), convert_from(NEW.key, 'UTF8'), node FROM leases WHERE name = 'shard ' || lpad((get_byte(NEW.place, 7) % 64)::text, 2, '0');
		RETURN NULL;
	END $$;
	CREATE FUNCTION witness.commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO witness.commits VALUES (txid_current(), NEW.node);
		RETURN NULL;
	END $$;
	CREATE TRIGGER witness AFTER UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION witness.outcome();
	CREATE TRIGGER witness AFTER INSERT OR UPDATE ON commits FOR EACH ROW WHEN (NEW.node <> '') EXECUTE FUNCTION witness.commit()`

// sqlFenced counts the outcomes, and those of a node that did not have the shard.
const sqlFenced = `SELECT count(*), count(*) FILTER (WHERE c.node IS DISTINCT FROM o.owner) FROM witness.outcomes o LEFT JOIN witness.commits c USING (tx)`

// end ends the callers, and holds what is in the database to what they were told and to
// what was received.
func (c *cluster) end() {
	c.Helper()
	c.settle()
	c.stop()
	c.callers.Wait()
	c.await("the last outcome", func() bool {
		return postgres.Exec(c, c.database, "SELECT count(*) FROM deliveries WHERE get_byte(place, 8) = 2")[0][0] == "0"
	})
	outcomes := c.fenced()
	stored := c.stored()
	for id := range c.accepted.IDs {
		if _, there := stored[id]; !there {
			c.Errorf("%s was accepted, and is not there", id)
		}
	}
	attempts := 0
	for id, d := range stored {
		if !c.accepted.IDs[id] {
			c.Errorf("%s is there, and nobody was told so", id)
		}
		attempts += d.Attempts
		c.compare(&d, c.receiver.of(id))
	}
	if attempts != outcomes {
		c.Errorf("%d outcomes were written, and %d attempts are counted", outcomes, attempts)
	}
	c.receiver.mu.Lock()
	for id := range c.receiver.posts {
		if _, there := stored[id]; !there {
			c.receiver.wrong = append(c.receiver.wrong, id+" is no delivery")
		}
	}
	for _, wrong := range c.receiver.wrong {
		c.Errorf("a receiver got something wrong: %s", wrong)
	}
	c.receiver.mu.Unlock()
	c.Logf("%d posts were accepted, and all of them are there and were received; requests without an answer: %d, answered 503: %d; %d attempts were recorded, each by the node that had the endpoint",
		len(stored), c.cut.Load(), c.refused.Load(), attempts)
	c.summary()
	for _, n := range c.nodes {
		n.server.Load().StopWell()
	}
	c.nodes[0].IsSound()
}

// fenced returns how many outcomes were written, none of them by a node that did not have
// the endpoint's shard.
func (c *cluster) fenced() (outcomes int) {
	c.Helper()
	row := postgres.Exec(c, c.database, sqlFenced)[0]
	if row[1] != "0" {
		c.Errorf("%s outcomes were written by nodes that did not have the endpoint any more", row[1])
	}
	return atoi(c.T, row[0])
}

// stored are the deliveries in the database, all of which have to be acknowledged.
func (c *cluster) stored() map[string]store.Delivery {
	c.Helper()
	s := program.InDatabase(c.T, c.database).Open()
	defer s.Close()
	all := map[string]store.Delivery{}
	for i := range clusterEndpoints {
		err := s.View(c.Context(), func(tx store.Tx) error {
			e, err := tx.Endpoint(fmt.Sprint("org_", i%clusterOrgs), fmt.Sprint("whe_", i))
			for after, more := (store.Cursor{}), err == nil; more && err == nil; {
				var page []store.Delivery
				page, more, err = tx.DeliveryPage(e.Number, store.ListAcknowledged, after, 1000)
				for _, d := range page {
					all[d.ID] = d
					_, after = d.Position()
				}
			}
			return err
		})
		kit.Must(c, err)
	}
	return all
}

// compare holds the attempts of a delivery that were recorded to what its receiver got.
// What it got beyond them was in flight when a node was lost.
func (c *cluster) compare(d *store.Delivery, got []received) {
	c.Helper()
	recorded := map[int]bool{}
	for _, a := range d.History {
		number, err := strconv.Atoi(string(a.Answer))
		i := slices.IndexFunc(got, func(r received) bool { return r.number == number })
		switch {
		case err != nil || i < 0:
			c.Errorf("%s has an attempt that its receiver knows nothing of: %+v", d.ID, a)
		case recorded[number] || got[i].status != a.Status:
			c.Errorf("%s has the request %d, answered %d, as %+v", d.ID, number, got[i].status, a)
		}
		recorded[number] = true
	}
	if n := len(d.History); n != d.Attempts || n == 0 || !d.History[n-1].Acknowledged() {
		c.Errorf("%s is %s after %d attempts: %+v", d.ID, d.State, d.Attempts, d.History)
	}
	for _, r := range got {
		if recorded[r.number] {
			continue
		}
		if round := c.lostIn(r.at); round != nil {
			round.again[d.EndpointID]++
		} else {
			c.Errorf("%s was sent at %s, which is not recorded, and nothing had happened", d.ID, r.at)
		}
	}
}

// outcomeTime is how long before something happened a request was received at the
// earliest whose outcome that could prevent.
const outcomeTime = 2 * time.Second

// lostIn is the round in which the outcome of a request was lost.
func (c *cluster) lostIn(at time.Time) *clusterRound {
	for _, r := range slices.Backward(c.rounds) {
		if at.After(r.began.Add(-outcomeTime)) && at.Before(r.over) {
			return r
		}
	}
	return nil
}

// How long it takes until what is accepted is sent. While other tests run too that is more: full
// sizes run alone, and are held to it.
var goesOnWithin = map[string]time.Duration{"killed": 7 * time.Second, "paused": 7 * time.Second, "requests held": 7 * time.Second, "answers held": 7 * time.Second, "stopped": 500 * time.Millisecond}

// summary says what came of each kind of round.
func (c *cluster) summary() {
	kinds := map[string][]*clusterRound{}
	for _, r := range c.rounds {
		kinds[r.kind] = append(kinds[r.kind], r)
		for endpoint, n := range r.again {
			if n > delivery.DefaultPerEndpoint {
				c.Errorf("%s: %d requests to %s were made again, and at most %d can have been in flight", r.kind, n, endpoint, delivery.DefaultPerEndpoint)
			}
		}
	}
	var lines []string
	for kind, rounds := range kinds {
		var wentOn, waited time.Duration
		again, most := 0, 0
		for _, r := range rounds {
			n := 0
			for _, of := range r.again {
				n += of
			}
			again, most = again+n, max(most, n)
			wentOn, waited = max(wentOn, r.wentOn), max(waited, r.waited)
		}
		line := fmt.Sprintf("%3d times %-20s %3d requests were made again, at most %d of one; the longest answer took %v", len(rounds), kind+":", again, most, waited.Round(time.Millisecond))
		if wentOn > 0 {
			line += fmt.Sprintf("; deliveries went on within %v", wentOn.Round(time.Millisecond))
		}
		if limit := goesOnWithin[kind]; limit > 0 && wentOn > 0 {
			if line += fmt.Sprintf(" (%v are promised)", limit); kit.AtSize() && wentOn > limit+3*time.Second {
				c.Errorf("%s: deliveries went on after %v only", kind, wentOn)
			}
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, cmp.Compare)
	c.Logf("in %v:\n%s", time.Since(c.rounds[0].began).Round(time.Second), strings.Join(lines, "\n"))
}
