package bench

import (
	"context"
)

// accepting is an appliance that is asked at an endpoint whose receiver takes
// one webhook at a time and does not answer it, so that it has little to do but
// accept.
type accepting struct {
	*asker
	session   *session
	world     *world
	appliance *appliance
	receiver  *receiver
}

// otherEndpoints are those that acknowledge, in an org of their own.
const otherEndpoints = 50

// prepareAccepting makes the data file, to which more may be written.
func (s *session) prepareAccepting(ctx context.Context, data string, more ...writer) (a *accepting, err error) {
	a = &accepting{session: s}
	defer func() {
		if err != nil {
			a.end()
		}
	}()
	if a.receiver, err = newReceiver(s.path(data + ".ca")); err != nil {
		return a, err
	}
	silent, err := a.receiver.listen(true)
	if err != nil {
		return a, err
	}
	others, err := a.receiver.listenAll(otherEndpoints)
	if err != nil {
		return a, err
	}
	a.world, err = newWorld(ctx, s.path(data), []tenant{{urls: []string{silent}}, {urls: others}}, more...)
	return a, err
}

// start starts the appliance, again if it runs.
func (a *accepting) start(ctx context.Context) (err error) {
	if a.appliance != nil {
		a.appliance.kill()
	}
	a.appliance, err = a.session.serve(ctx, a.world.data, a.receiver.caFile)
	return err
}

// startTime is how many seconds pass from the start of the process until it is
// ready.
func (a *accepting) startTime(ctx context.Context) (float64, error) {
	if err := a.start(ctx); err != nil {
		return 0, err
	}
	return max(0, a.appliance.ready.Sub(a.appliance.began)).Seconds(), nil
}

func (a *accepting) connect(ctx context.Context) (err error) {
	a.asker, err = a.session.newAsker(ctx, a.appliance.server, connections, always(a.world.orgs[0].test(0)))
	return err
}

// firstReceipt waits until n webhooks came, and returns how many seconds after
// the appliance was ready the first of them did.
func (a *accepting) firstReceipt(ctx context.Context, n int) (float64, error) {
	if _, err := a.receiver.await(ctx, n); err != nil {
		return 0, err
	}
	return max(0, a.receiver.firstAt().Sub(a.appliance.ready)).Seconds(), nil
}

// residentMemory is that of the appliance, in MiB.
func (a *accepting) residentMemory() (now float64, err error) {
	now, _, err = residentMemory(a.appliance.pid())
	return now, err
}

// end ends what was started of it.
func (a *accepting) end() {
	if a.asker != nil {
		a.close()
	}
	if a.appliance != nil {
		a.appliance.kill()
	}
	if a.receiver != nil {
		a.receiver.close()
	}
}
