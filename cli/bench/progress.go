package bench

import (
	"fmt"
	"io"
	"strings"
)

// progress tells people what is being done: on a terminal in one line that is
// written over, else in one line for each measurement.
type progress struct {
	out      io.Writer
	terminal bool
	done     int // measurements that were begun
	current  string
}

const clearLine = "\r\x1b[K"

// begin says which measurements run now, of how many.
func (p *progress) begin(names []string, of int) {
	first := p.done + 1
	p.done += len(names)
	p.current = fmt.Sprintf("%d/%d %s", p.done, of, strings.Join(names, ", "))
	if len(names) > 1 {
		p.current = fmt.Sprintf("%d-%s", first, p.current)
	}
	if p.terminal {
		p.step("")
	} else {
		fmt.Fprintln(p.out, "measuring", p.current)
	}
}

// step says how far the measurement is.
func (p *progress) step(format string, args ...any) {
	if !p.terminal {
		return
	}
	line := p.current
	if format != "" {
		line += ": " + fmt.Sprintf(format, args...)
	}
	fmt.Fprintf(p.out, "%smeasuring %s", clearLine, line)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.out, clearLine)
	}
}
