package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Measurement is one that can be asked for by its name.
type Measurement struct {
	Name string
	What string
}

// Measurements are all of them, in the order in which they run.
var Measurements = []Measurement{
	{"sync", "4 KiB written and synced, again and again: floor of everything that is kept"},
	{"handler", "a bare HTTPS handler asked on 64 connections: floor of accept"},
	{"accept", "test events accepted on 64 connections, each on the disk before its answer, to a receiver that answers nothing, so that deliveries wait"},
	{"client", "a bare client that signs and posts, 64 at a time: floor of deliver"},
	{"deliver", "events accepted on 64 connections, delivered to 8 endpoints and recorded"},
	{"latency", "from a request and from its answer to the receipt of its event, at a steady rate"},
	{"pages", "pages of 100 members on 32 connections, beside a bare handler that answers as much"},
	{"memory", "resident memory: idle, after a load, and at its peak"},
	{"backlog", "a data file with deliveries that wait for a retry, beside an empty one"},
	{"hanging", "delivery to healthy endpoints while nine of ten hang, beside none hanging"},
}

// group is what is measured in turns with one another.
type group struct {
	names []string
	run   func(*session, context.Context) error
}

var groups = []group{
	{[]string{"sync"}, (*session).measureSync},
	{[]string{"handler", "accept"}, (*session).measureAccept},
	{[]string{"client", "deliver"}, (*session).measureDeliver},
	{[]string{"latency"}, (*session).measureLatency},
	{[]string{"pages"}, (*session).measurePages},
	{[]string{"memory"}, (*session).measureMemory},
	{[]string{"backlog"}, (*session).measureBacklog},
	{[]string{"hanging"}, (*session).measureHanging},
}

// choose returns the names of what is to be measured, in the order of
// Measurements.
func (c *Config) choose() (chosen []string, err error) {
	for _, name := range c.Only {
		if !slices.ContainsFunc(Measurements, func(m Measurement) bool { return m.Name == name }) {
			return nil, fmt.Errorf("--only %s: there is no such measurement; there are %s", name, strings.Join(names(), ", "))
		}
	}
	for _, m := range Measurements {
		if slices.Contains(c.Only, m.Name) || len(c.Only) == 0 {
			chosen = append(chosen, m.Name)
		}
	}
	return chosen, nil
}

func names() (all []string) {
	for _, m := range Measurements {
		all = append(all, m.Name)
	}
	return all
}

// wanted are the names of the group that were chosen.
func (g *group) wanted(chosen []string) (wanted []string) {
	for _, name := range g.names {
		if slices.Contains(chosen, name) {
			wanted = append(wanted, name)
		}
	}
	return wanted
}
