package bench

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Config says what is measured, and how much of it. Start from [Default].
type Config struct {
	Program string   // the teamdata to measure; empty: this program
	Version string   // of it, for the report
	Dir     string   // where the temporary folder is made; empty: the system's folder for them
	Only    []string // names of measurements; empty: all

	Rounds         int           // how often floor and ours take turns
	Duration       time.Duration // of one turn of asking
	Events         int           // delivered in one round of deliver
	Rate           int           // events offered a second by latency
	Members        int           // that pages lists
	Backlog        int           // deliveries that wait for a retry
	Endpoints      int           // of hanging; nine of ten of them hang
	AttemptTimeout time.Duration // of those that hang

	Progress io.Writer // told what is being done; nil: nobody
	Terminal bool      // Progress is a terminal: one line, written over
}

// Default are the sizes that a machine is measured with.
func Default() Config {
	return Config{
		Rounds: 3, Duration: 2 * time.Second, Events: 20_000, Rate: 500, Members: 10_000,
		Backlog: 1_000_000, Endpoints: 1000, AttemptTimeout: 5 * time.Second,
	}
}

// The connections on which is asked at once.
const (
	connections     = 64
	pageConnections = 32
)

// warmUp is how many events are sent before it is measured.
func (c *Config) warmUp() int { return min(c.Events/10+1, 2000) }

// check holds the sizes to what can be measured.
func (c *Config) check() error {
	for _, size := range []struct {
		flag           string
		n, least, most int
	}{
		{"rounds", c.Rounds, 1, 100},
		{"events", c.Events, 1, 1_000_000},
		{"rate", c.Rate, 1, 100_000},
		{"members", c.Members, 1, 1_000_000},
		{"backlog", c.Backlog, 1, 100_000_000},
		{"endpoints", c.Endpoints, 10, 10_000},
	} {
		if size.n < size.least || size.n > size.most {
			return fmt.Errorf("--%s %d: give a number from %d to %d", size.flag, size.n, size.least, size.most)
		}
	}
	if c.Duration <= 0 || c.Duration > time.Minute { // servers close connections that wait for longer than two
		return fmt.Errorf("--duration %s: give more than 0 and at most 1m, such as 2s", c.Duration)
	}
	if c.AttemptTimeout <= 0 || c.AttemptTimeout > time.Minute {
		return fmt.Errorf("--attempt-timeout %s: give more than 0 and at most 1m, such as 5s", c.AttemptTimeout)
	}
	return nil
}

// complete fills in what depends on the machine.
func (c *Config) complete() (err error) {
	if c.Program == "" {
		c.Program, err = os.Executable()
	}
	if c.Dir == "" {
		c.Dir = os.TempDir()
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return err
}
