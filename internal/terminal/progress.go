package terminal

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progressEvery is how often the line is rewritten.
const progressEvery = time.Second

// Progress is a line on the terminal about long work: how far it is, or how long it
// has taken.
type Progress struct {
	out   io.Writer
	what  string
	done  atomic.Pointer[string]
	ended chan struct{}
	shown sync.WaitGroup
}

// StartProgress shows what is being done until Stop; nothing where out, which is
// stderr, is no terminal.
func StartProgress(out io.Writer, what string) *Progress {
	p := &Progress{out: out, what: what, ended: make(chan struct{})}
	if Width(out) > 0 {
		p.shown.Go(p.show)
	}
	return p
}

func (p *Progress) show() {
	const clearLine = "\r\033[K"
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-p.ended:
			fmt.Fprint(p.out, clearLine)
			return
		case <-tick.C:
			fmt.Fprintf(p.out, "%s%s: %s", clearLine, p.what, p.far(time.Since(start)))
		}
	}
}

func (p *Progress) far(since time.Duration) string {
	if done := p.done.Load(); done != nil {
		return *done
	}
	return since.Round(time.Second).String()
}

// Report sets how much of the work is done.
func (p *Progress) Report(done, total int64) { p.Describe(fmt.Sprintf("%d%%", 100*done/max(total, 1))) }

// Describe sets what is done, in words.
func (p *Progress) Describe(done string) { p.done.Store(&done) }

// Stop removes the line.
func (p *Progress) Stop() {
	close(p.ended)
	p.shown.Wait()
}
