package delivery_test

import (
	"context"
	"sync"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery"
)

// process is what runs from a start to a stop.
type process struct {
	number      int
	dispatcher  *delivery.Dispatcher
	mailer      *delivery.Mailer
	stop        context.CancelFunc
	cut         context.CancelFunc // ends the grace
	running     sync.WaitGroup
	graceEndsAt time.Time
	err         error
}

var quiet = zerolog.Nop()

func (w *world) open() {
	s, err := w.engine.open(w)
	if err != nil {
		w.Fatal(err)
	}
	w.store = s
}

// start starts the dispatcher and the mailer on the store.
func (w *world) start() {
	p := &process{number: 1}
	if w.process != nil {
		p.number = w.process.number + 1
	}
	mailer := delivery.NewMailer(delayedClient{w.as("the mailer", func(a *transaction) want { return w.mailed(p, a) })}, nil, nil, time.Now, &quiet)
	mailer.SendThrough(w.sendMail(p))
	p.mailer = mailer
	config := w.config
	config.Mailed = mailer.Wake
	p.dispatcher = delivery.New(delayedClient{w.as("the dispatcher", func(a *transaction) want { return w.attempted(p, a) })}, config)
	p.dispatcher.SendThrough(network{w, p})
	var ctx, grace context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	grace, p.cut = context.WithCancel(context.Background())
	p.running.Go(func() { p.err = p.dispatcher.Run(ctx, grace) })
	p.running.Go(func() { mailer.Run(ctx, grace) })
	w.process = p
	w.interleaving.turn(true)
	w.calmFrom(time.Now())
	w.note("process %d starts", p.number)
}

// end ends a process within a time of grace.
func (p *process) end(grace time.Duration) {
	p.graceEndsAt = time.Now().Add(grace)
	p.stop()
	timer := time.AfterFunc(grace, p.cut)
	p.running.Wait()
	timer.Stop()
	p.cut()
}

// crash ends everything at once, with updates on their way, and starts again
// from what is stored.
func (w *world) crash(why string) {
	w.note("%s", why)
	w.sum.crashes++
	w.disturb()
	w.mu.Lock()
	w.disk.dead = true // the store writes nothing more
	w.mu.Unlock()
	p := w.process
	p.graceEndsAt = time.Now()
	p.stop()
	p.cut()
	w.close()
	p.running.Wait()
	w.restart()
}

// stop ends everything with grace, while clients go on, and starts again.
func (w *world) stop(grace time.Duration) {
	w.note("a stop, with %s of grace", grace)
	w.sum.stops++
	faults, calm := w.faults(), w.isCalm()
	w.disturb()
	w.process.end(grace)
	w.checkLostOutcomes(w.process, calm && w.faults() == faults)
	w.close()
	w.restart()
}

func (w *world) close() {
	w.interleaving.turn(false)
	if err := w.store.Close(); err != nil {
		w.breaks(commits, "the store can't be closed: %v", err)
	}
}

// restart starts again after a while, and checks that nothing was lost.
func (w *world) restart() {
	synctest.Wait() // until all have returned from the closed store
	w.checkReleased(w.process)
	if err := w.engine.check(w); err != nil {
		w.breaks(commits, "the data can't be checked: %v", err)
	}
	w.disk.revive()
	if w.IntN(2) == 0 {
		<-time.After(upTo(w.Rand, pick(w.Rand, []time.Duration{time.Second, time.Minute, time.Hour})))
	}
	w.open()
	w.compare()
	w.start()
	if w.IntN(8) == 0 {
		w.stop(time.Second) // before it has begun
	}
}
