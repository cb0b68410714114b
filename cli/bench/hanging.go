package bench

import (
	"context"
	"time"

	"teamdata/store"
)

const (
	hangingAnswer  = "answer to receipt at healthy endpoints; nine of ten hang"
	hangingRequest = "request to receipt there"
	hangingMemory  = "resident while they hang"
)

const (
	healthyEvery = 5 * time.Millisecond // between two events to healthy endpoints
	hangsEach    = 3                    // events to each endpoint that hangs: one before, during and after the measurement
)

// measureHanging sends to healthy endpoints, first while nothing else happens,
// then while all the others hang to the deadline, one after the other.
func (s *session) measureHanging(ctx context.Context) error {
	h, err := s.startHanging(ctx)
	if err != nil {
		return err
	}
	defer h.end()
	s.step("none hangs")
	quiet, err := h.measure(ctx)
	if err != nil {
		return err
	}
	s.step("nine of ten hang")
	if err := h.fill(ctx); err != nil {
		return err
	}
	before := h.receiver.hanging()
	crowded, err := h.measure(ctx)
	if err != nil {
		return err
	}
	s.note("hanging: %d of %d endpoints hung when the measurement began, %d when it ended", before, len(h.hanging), h.receiver.hanging())
	s.addHanging(crowded, quiet)
	return nil
}

func (s *session) addHanging(crowded, quiet state) {
	add := func(name, unit, meaning string, value, floor float64) {
		s.add(compared("hanging."+name, unit, "none hanging", meaning, []Round{{value, floor}}))
	}
	add("answer.p99", "ms", hangingAnswer, crowded.answer, quiet.answer)
	add("request.p99", "ms", hangingRequest, crowded.request, quiet.request)
	if memoryKnown {
		add("memory", "MiB", hangingMemory, crowded.memory, quiet.memory)
	}
}

// hanging is an appliance with endpoints of which few are healthy.
type hanging struct {
	crowd
	session          *session
	appliance        *appliance
	receiver         *receiver
	healthy, hanging []string // requests that send to such an endpoint
}

func (s *session) startHanging(ctx context.Context) (h *hanging, err error) {
	h = &hanging{session: s}
	defer func() {
		if err != nil {
			h.end()
		}
	}()
	if h.receiver, err = newReceiver(s.path("hanging.ca")); err != nil {
		return h, err
	}
	orgs, err := h.tenants(s.Endpoints)
	if err != nil {
		return h, err
	}
	w, err := newWorld(ctx, s.path("hanging.db"), orgs)
	if err != nil {
		return h, err
	}
	h.sort(w)
	h.appliance, err = s.serve(ctx, w.data, h.receiver.caFile, "--attempt-timeout", s.AttemptTimeout.String())
	if err != nil {
		return h, err
	}
	if h.crowd, err = dialCrowd(ctx, h.appliance.server, connections); err != nil {
		return h, err
	}
	_, _, err = h.offered(ctx, h.receiver, len(h.healthy), healthyEvery, h.toHealthy) // connections are made
	return h, err
}

// tenants spreads endpoints over as many orgs as it takes. Every tenth is
// healthy, and has an address of its own.
func (h *hanging) tenants(endpoints int) (orgs []tenant, err error) {
	silent, err := h.receiver.listen(true)
	if err != nil {
		return nil, err
	}
	for i := range endpoints {
		if i%store.MaxEndpoints == 0 {
			orgs = append(orgs, tenant{})
		}
		url := silent
		if i%10 == 0 {
			if url, err = h.receiver.listen(false); err != nil {
				return nil, err
			}
		}
		org := &orgs[len(orgs)-1]
		org.urls = append(org.urls, url)
	}
	return orgs, nil
}

// sort tells the requests apart.
func (h *hanging) sort(w *world) {
	for i := range w.orgs {
		for j := range w.orgs[i].endpoints {
			if j%10 == 0 {
				h.healthy = append(h.healthy, w.orgs[i].test(j))
			} else {
				h.hanging = append(h.hanging, w.orgs[i].test(j))
			}
		}
	}
}

func (h *hanging) toHealthy(k int) string { return h.healthy[k%len(h.healthy)] }

// fill sends to those that hang, evenly over as long as an attempt may take, so
// that afterwards attempts end and begin evenly too.
func (h *hanging) fill(ctx context.Context) error {
	n := hangsEach * len(h.hanging)
	_, err := h.offer(ctx, n, h.session.AttemptTimeout/time.Duration(n), func(k int) string { return h.hanging[k/hangsEach] })
	return err
}

// state is what the healthy endpoints see.
type state struct{ answer, request, memory float64 }

// measure sends to the healthy endpoints for as long as an attempt may take:
// each of those that hang ends one attempt in that time, and begins another.
func (h *hanging) measure(ctx context.Context) (s state, err error) {
	n := max(1, int(h.session.AttemptTimeout/healthyEvery))
	fromRequest, fromAnswer, err := h.offered(ctx, h.receiver, n, healthyEvery, h.toHealthy)
	if err != nil {
		return s, err
	}
	s.answer, s.request = millis(percentile(fromAnswer, 99)), millis(percentile(fromRequest, 99))
	if memoryKnown {
		s.memory, _, err = residentMemory(h.appliance.pid())
	}
	return s, err
}

func (h *hanging) end() {
	h.close()
	if h.appliance != nil {
		h.appliance.kill()
	}
	if h.receiver != nil {
		h.receiver.close()
	}
}
