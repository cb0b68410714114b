package pull_test

import (
	"path/filepath"
	"slices"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// Three consumers are killed again and again, and their requests and answers are lost, while 8
// writers post: each event that was accepted is handled, and again only if a lease of it ended.
func TestConsumers(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		d := &program.Data{T: t, At: filepath.Join(t.TempDir(), "teamdata.db")}
		consumers(t, false, d)
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		consumers(t, false, program.InDatabase(t, postgres.New(t)))
	})
	t.Run("nodes", func(t *testing.T) {
		t.Parallel()
		kit.NotEveryDay(t)
		database := postgres.New(t)
		consumers(t, true, program.InDatabase(t, database), program.InDatabase(t, database), program.InDatabase(t, database))
	})
}

// consumers runs the story with a server at each place, one of which may be killed.
func consumers(t *testing.T, kill bool, places ...*program.Data) {
	n, random := kit.Size(600, 100_000), kit.Random(t)
	var servers []*program.Process
	for _, d := range places {
		servers = append(servers, d.Serve(flags(t)...))
	}
	e := newEvents(t, servers...)
	f := newFront(t, random, &e.servers)
	all := behind(t, f, 3)
	e.write(n)

	stop, kills := make(chan struct{}), make(chan int)
	go func() { kills <- killed(t, kit.Random(t), all, 4, stop) }()
	if kill {
		<-e.half
		left := servers[1:]
		e.servers.Store(&left)
		servers[0].Kill()
		places, servers = places[1:], left
	}
	e.end.Wait()
	close(stop)
	t.Logf("consumers were killed %d times", <-kills)
	f.calm.Store(true)
	e.acknowledged(places[0])
	end(t, all, servers)
	var books [][]string
	for _, c := range all {
		books = append(books, c.read())
	}
	e.compare(places[0], books...)
}

// end stops consumers, and then servers.
func end(t *testing.T, consumers []*consumer, servers []*program.Process) {
	t.Helper()
	for _, c := range consumers {
		c.process.StopWell()
	}
	for _, p := range servers {
		p.StopWell()
	}
}

// One consumer without faults handles all events once, in the order of their commits: those of
// each writer are in its order, and their ids rise.
func TestOneConsumer(t *testing.T) { program.OnEngines(t, oneConsumer) }

func oneConsumer(t *testing.T, d *program.Data) {
	p := d.Serve(flags(t)...)
	e := newEvents(t, p)
	c := newConsumer(t, p.URL, p.CAFile, 1)
	c.start()
	e.write(kit.Size(400, 100_000))
	e.end.Wait()
	e.acknowledged(d)
	end(t, []*consumer{c}, []*program.Process{p})
	book := c.read()
	if !slices.IsSorted(book) {
		t.Error("it handled events in another order")
	}
	place := map[string]int{}
	for i, id := range book {
		place[id] = i
	}
	for w, ids := range e.of {
		for i := range ids[1:] {
			if place[ids[i]] >= place[ids[i+1]] {
				t.Errorf("of writer %d %s came after %s", w, ids[i], ids[i+1])
			}
		}
	}
	if len(book) != len(place) {
		t.Errorf("it handled %d events, %d of them again", len(book), len(book)-len(place))
	}
	e.compare(d, book)
}
