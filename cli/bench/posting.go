package bench

import "context"

// posting is a bare client in a process of its own, and who receives from it.
type posting struct {
	process  *partProcess
	receiver *receiver
	job      postJob
	posts    int // made so far
}

func (s *session) startPosting(ctx context.Context) (p *posting, err error) {
	p = &posting{job: postJob{Posts: s.warmUp(), CAFile: s.path("client.ca")}}
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	if p.receiver, err = newReceiver(p.job.CAFile); err != nil {
		return p, err
	}
	if p.job.URLs, err = p.receiver.listenAll(deliveryEndpoints); err != nil {
		return p, err
	}
	if p.process, err = s.startPart(ctx); err != nil {
		return p, err
	}
	_, err = p.turn(ctx) // connections are made
	p.job.Posts = s.Events
	return p, err
}

func (p *posting) turn(context.Context) (float64, error) {
	t, err := p.process.do(job{Post: &p.job})
	p.posts += p.job.Posts
	return float64(p.job.Posts) / t.Took.Seconds(), err
}

func (p *posting) end() {
	if p.process != nil {
		p.process.kill()
	}
	if p.receiver != nil {
		p.receiver.close()
	}
}
