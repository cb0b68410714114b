package power_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit/program"
	"teamdata/store"
)

// loadRetention is how long finished deliveries are kept under load, so that many are
// dropped meanwhile.
const loadRetention = 200 * time.Millisecond

// load is what clients asked a server, what they were answered, and what a receiver
// got.
type load struct {
	t        *testing.T
	url      string
	caFile   string
	data     string
	operator program.Operator // of the server that is asked now

	mu       sync.Mutex
	keys     []string // of all tests that were asked for
	acks     []ack
	received map[delivered]time.Time // when it was acknowledged
}

// ack is an answer that a client has.
type ack struct {
	at   time.Time
	key  string // the Idempotency-Key of a test
	body string // its answer
	log  loggedChange
}

// loggedChange is a change of a member, which is in the audit log.
type loggedChange struct{ Action, TargetID string }

// delivered tells a delivery apart by what its receiver sees.
type delivered struct{ endpoint, event, of string } // of the member, or the delivery's id

var loadEndpoints = []string{"whe_a", "whe_b"}

func newLoad(t *testing.T, data string) *load {
	l := &load{t: t, data: data, received: map[delivered]time.Time{}}
	l.url, l.caFile = program.ServeTLS(t, l)
	return l
}

// ServeHTTP is the receiver; every fifth request fails.
func (l *load) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	at := time.Now()
	var event struct {
		Type string
		Data struct{ MemberID string }
	}
	body, err := io.ReadAll(q.Body)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil {
		l.t.Errorf("the receiver got %q: %v", body, err)
	}
	id := q.Header.Get("webhook-id")
	if (int(id[len(id)-1])+at.Nanosecond()/1000)%5 == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if event.Data.MemberID != "" {
		id = event.Data.MemberID
	}
	d := delivered{q.URL.RawQuery, event.Type, id}
	if _, again := l.received[d]; !again {
		l.received[d] = at
	}
}

// flags are those of a server with this load.
func (l *load) flags() []string {
	return []string{
		"--webhook-ca", l.caFile, "--allow-endpoint-cidr", "127.0.0.1/32", "--key-rate", "0", "--client-rate", "0", "--access-log", "off",
		"--delivery-retention", loadRetention.String(), "--retry-schedule", strings.TrimSuffix(strings.Repeat("5ms,", 20), ","),
	}
}

func (l *load) seed() string {
	hooks := make([]map[string]any, len(loadEndpoints))
	for i, id := range loadEndpoints {
		hooks[i] = map[string]any{"id": id, "url": l.url + "?" + id, "secret": store.NewEndpointSecret(), "events": []string{store.EventMemberAdded, store.EventMemberRemoved}}
	}
	content, _ := json.Marshal(map[string]any{"orgs": []any{map[string]any{
		"id": "org_acme", "name": "Acme", "webhooks": hooks,
		"members": []any{map[string]string{"id": "mem_ada", "userId": "usr_ada", "role": "owner"}},
		"apiKeys": []any{map[string]any{"id": "key_write", "secret": "example-writer-secret", "scopes": []string{"write"}, "createdBy": "usr_ada"}},
	}}})
	return string(content)
}

// run asks for things, several at a time: tests under a key each, members added, and
// removed again.
func (l *load) run(p *program.Process, requests int, random *rand.Rand) {
	l.operator = program.NewOperator(l.t, l.data)
	const clients = 4
	var group sync.WaitGroup
	for range clients {
		mine := rand.New(rand.NewPCG(random.Uint64(), 0))
		group.Go(func() {
			var added [][2]string // users and members
			for range requests / clients {
				name := fmt.Sprintf("%016x", mine.Uint64())
				switch draw := mine.IntN(5); {
				case draw < 2:
					l.test(p, loadEndpoints[mine.IntN(len(loadEndpoints))], "test "+name)
				case draw < 4 || len(added) == 0:
					added = append(added, [2]string{"usr_" + name, l.add("usr_" + name)})
				default:
					l.remove(added[0])
					added = added[1:]
				}
			}
		})
	}
	group.Wait()
}

// awaitDropped waits until a finished delivery was dropped.
func (l *load) awaitDropped(p *program.Process) {
	for _, a := range l.acks {
		if a.key == "" {
			continue
		}
		p.Await("the end of a delivery", func() bool {
			status, _ := l.admin("GET", "/deliveries/"+idIn(a.body), nil, "")
			return status == http.StatusNotFound
		})
		return
	}
}

func idIn(answer string) string {
	var of struct{ ID string }
	json.Unmarshal([]byte(answer), &of)
	return of.ID
}

func (l *load) acknowledged(a ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.at = time.Now()
	l.acks = append(l.acks, a)
}

// answered reports whether a client got an answer between two moments.
func (l *load) answered(from, to time.Time) bool {
	i := sort.Search(len(l.acks), func(i int) bool { return !l.acks[i].at.Before(from) })
	return i < len(l.acks) && l.acks[i].at.Before(to)
}

// test asks for a test from two sides, again and again until there is an answer, as a
// client does that lost its patience. Whatever it is answered with counts.
func (l *load) test(p *program.Process, endpoint, key string) {
	l.mu.Lock()
	l.keys = append(l.keys, key)
	l.mu.Unlock()
	ask := func() {
		status := http.StatusConflict
		for status == http.StatusConflict {
			a, err := p.Do("POST", "/webhooks/"+endpoint+"/test", program.WriteKey, "Idempotency-Key", key)
			if status = a.Status; status == http.StatusOK {
				l.acknowledged(ack{key: key, body: a.Body})
			} else if status != http.StatusConflict {
				l.t.Errorf("a test was answered %d %s, %v", status, a.Body, err)
			}
		}
	}
	var both sync.WaitGroup
	both.Go(ask)
	both.Go(ask)
	both.Wait()
}

func (l *load) add(user string) (member string) {
	status, answer := l.admin("POST", "/members", map[string]string{"userId": user, "role": "member"}, user)
	if status != http.StatusCreated {
		l.t.Errorf("adding a member was answered %d %s", status, answer)
	}
	member = idIn(answer)
	l.acknowledged(ack{log: loggedChange{store.EventMemberAdded, member}})
	return member
}

func (l *load) remove(member [2]string) {
	if status, answer := l.admin("DELETE", "/members/"+member[0], nil, ""); status >= http.StatusMultipleChoices {
		l.t.Errorf("removing a member was answered %d %s", status, answer)
	}
	l.acknowledged(ack{log: loggedChange{store.EventMemberRemoved, member[1]}})
}

// admin asks the admin API for something of the org.
func (l *load) admin(method, path string, document any, key string) (status int, answer string) {
	in, _ := json.Marshal(document)
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	status, answer, err := l.operator.Do(method, "/orgs/org_acme"+path, string(in), headers...)
	if err != nil {
		l.t.Error(err)
	}
	return status, answer
}
