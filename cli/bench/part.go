package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// PartCommand is the command of the measured program that runs [Part].
const PartCommand = "part"

// job is what a part is told to do, and told is what it says when that is done.
type (
	job struct {
		Handler *handlerJob `json:",omitempty"`
		Post    *postJob    `json:",omitempty"`
	}
	told struct {
		Address string        `json:",omitempty"` // of the handler
		CAPEM   []byte        `json:",omitempty"`
		Took    time.Duration `json:",omitempty"` // of the posts
		Err     string        `json:",omitempty"`
	}
)

// Part is a floor in a process of its own, as the appliance is one: a bare
// handler or a bare client. It reads jobs from in, one JSON document each, and
// says on out what came of them. It ends when in does, and so with the process
// that began it.
func Part(ctx context.Context, in io.Reader, out io.Writer) error {
	jobs, answers := json.NewDecoder(in), json.NewEncoder(out)
	var p part
	defer p.close()
	for {
		var j job
		if err := jobs.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("this command is for teamdata bench alone: %w", err)
		}
		t, err := p.do(ctx, j)
		if err != nil {
			t.Err = err.Error()
		}
		if err := answers.Encode(t); err != nil {
			return err
		}
	}
}

// part is what a process of its own keeps between two jobs.
type part struct {
	handler *bareHandler
	client  *bareClient
}

func (p *part) do(ctx context.Context, j job) (t told, err error) {
	switch {
	case j.Handler != nil:
		p.handler, err = startHandler(j.Handler)
		if err == nil {
			t.Address, t.CAPEM = p.handler.address, p.handler.ca
		}
	case j.Post != nil:
		if p.client == nil {
			p.client, err = newClient(j.Post)
		}
		if err == nil {
			t.Took, err = p.client.post(ctx, j.Post)
		}
	}
	return t, err
}

func (p *part) close() {
	if p.handler != nil {
		p.handler.server.Close()
	}
}

// partProcess is a running Part, as this process sees it.
type partProcess struct {
	*child
	jobs    io.WriteCloser
	answers *json.Decoder
}

func (s *session) startPart(ctx context.Context) (*partProcess, error) {
	p := &partProcess{child: s.newChild(ctx, "the floor's process", "bench", PartCommand)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.jobs, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.answers = json.NewDecoder(out)
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

// do lets the part do a job. When ctx ends, so does the part.
func (p *partProcess) do(j job) (t told, err error) {
	if err = json.NewEncoder(p.jobs).Encode(j); err == nil {
		err = p.answers.Decode(&t)
	}
	switch {
	case err != nil:
		p.kill()
		return t, p.failure("it broke off (%v)", err)
	case t.Err != "":
		return t, errors.New(t.Err)
	}
	return t, nil
}

// end lets the part end, and returns the CPU time that it took in all.
func (p *partProcess) end() (cpu time.Duration, err error) {
	p.jobs.Close()
	return p.wait()
}
