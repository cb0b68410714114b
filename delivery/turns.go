package delivery

// turns are lanes that wait for their turn. The orgs take turns, and within an
// org its lanes do: an org with many endpoints gets no more than one with few.
type turns struct {
	orgs  []*orgTurns // those with lanes that wait, in order
	byOrg map[string]*orgTurns
}

type orgTurns struct {
	org   string
	lanes []*lane
}

func (t *turns) empty() bool { return len(t.orgs) == 0 }

// push puts a lane behind the others of its org.
func (t *turns) push(l *lane) {
	o := t.byOrg[l.org]
	if o == nil {
		if t.byOrg == nil {
			t.byOrg = make(map[string]*orgTurns)
		}
		o = &orgTurns{org: l.org}
		t.byOrg[l.org] = o
		t.orgs = append(t.orgs, o)
	}
	o.lanes = append(o.lanes, l)
}

// pop takes the first lane of the first org, and puts the org behind the others.
func (t *turns) pop() *lane {
	o := t.orgs[0]
	l := o.lanes[0]
	t.orgs, o.lanes = t.orgs[1:], o.lanes[1:]
	if len(o.lanes) > 0 {
		t.orgs = append(t.orgs, o)
	} else {
		delete(t.byOrg, o.org)
	}
	return l
}
