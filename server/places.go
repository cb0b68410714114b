package server

import (
	"context"
	"net/netip"
	"sync"
)

// places are a few for each client.
type places struct {
	each int

	mu      sync.Mutex
	clients map[netip.Prefix]*clientPlaces
}

type clientPlaces struct {
	taken chan struct{}
	users int // that have a place or wait for one
}

func newPlaces(each int) places {
	return places{each: each, clients: map[netip.Prefix]*clientPlaces{}}
}

// take waits for a place of a client, until ctx ends.
func (p *places) take(ctx context.Context, client netip.Prefix) (leave func(), ok bool) {
	p.mu.Lock()
	its := p.clients[client]
	if its == nil {
		its = &clientPlaces{taken: make(chan struct{}, p.each)}
		p.clients[client] = its
	}
	its.users++
	p.mu.Unlock()
	select {
	case its.taken <- struct{}{}:
		return sync.OnceFunc(func() {
			<-its.taken
			p.forget(client, its)
		}), true
	case <-ctx.Done():
		p.forget(client, its)
		return nil, false
	}
}

func (p *places) forget(client netip.Prefix, its *clientPlaces) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if its.users--; its.users == 0 {
		delete(p.clients, client)
	}
}
