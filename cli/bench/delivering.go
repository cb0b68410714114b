package bench

import (
	"context"
	"fmt"
	"time"
)

// delivering is an appliance with endpoints that acknowledge.
type delivering struct {
	crowd
	world     *world
	appliance *appliance
	receiver  *receiver
	events    int       // sent so far
	accepted  []float64 // answers a second, round by round
}

// startDelivering serves a new data file and warms it up: connections are made,
// and the windows of the endpoints opened.
func (s *session) startDelivering(ctx context.Context, data string, endpoints int) (*delivering, error) {
	d, err := s.prepareDelivering(ctx, data, endpoints)
	if err != nil {
		return nil, err
	}
	if err = d.connect(ctx); err == nil {
		_, err = d.deliver(ctx, s.warmUp())
		d.accepted = nil
	}
	if err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

func (s *session) prepareDelivering(ctx context.Context, data string, endpoints int) (d *delivering, err error) {
	d = &delivering{}
	defer func() {
		if err != nil {
			d.end()
		}
	}()
	if d.receiver, err = newReceiver(s.path(data + ".ca")); err != nil {
		return d, err
	}
	urls, err := d.receiver.listenAll(endpoints)
	if err != nil {
		return d, err
	}
	if d.world, err = newWorld(ctx, s.path(data), []tenant{{urls: urls}}); err != nil {
		return d, err
	}
	d.appliance, err = s.serve(ctx, d.world.data, d.receiver.caFile)
	return d, err
}

// connect connects the callers, anew if they were before.
func (d *delivering) connect(ctx context.Context) (err error) {
	d.close()
	d.crowd, err = dialCrowd(ctx, d.appliance.server, connections)
	return err
}

// turn is deliver on new connections: the server closes old ones while the floor
// takes a long turn.
func (d *delivering) turn(ctx context.Context, events int) (float64, error) {
	if err := d.connect(ctx); err != nil {
		return 0, err
	}
	return d.deliver(ctx, events)
}

// deliver sends events, and returns how many a second came to their receivers.
func (d *delivering) deliver(ctx context.Context, events int) (float64, error) {
	start := time.Now()
	took, err := d.ask(ctx, events, d.world.orgs[0].inTurn)
	if err != nil {
		return 0, err
	}
	d.accepted = append(d.accepted, float64(events)/took.Seconds())
	d.events += events
	last, err := d.receiver.await(ctx, d.events)
	return float64(events) / last.Sub(start).Seconds(), err
}

// finish stops the appliance, holds the file to what was received, and returns
// the CPU time.
func (d *delivering) finish(ctx context.Context) (time.Duration, error) {
	d.close()
	cpu, err := d.appliance.stop()
	if err != nil {
		return 0, err
	}
	n, err := d.world.waiting(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d deliveries wait in the data file, although all were acknowledged", n)
	}
	return cpu, err
}

func (d *delivering) end() {
	d.close()
	if d.appliance != nil {
		d.appliance.kill()
	}
	if d.receiver != nil {
		d.receiver.close()
	}
}
