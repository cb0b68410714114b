package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// Errors are one line, and say how to fix it.
func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	kit.WriteFile(t, file, "")
	for want, change := range map[string]func(*Config){
		"--only accpt: there is no such measurement; there are sync, handler, accept, ": func(c *Config) { c.Only = []string{"accpt"} },
		"choose a folder that you may write to":                                         func(c *Config) { c.Dir = file },
		"--dir: ":                                                                       func(c *Config) { c.Dir = filepath.Join(file, "none") },
		"--events 0: give a number from 1 to ":                                          func(c *Config) { c.Events = 0 },
		"--rate 100001: give a number from 1 to 100000":                                 func(c *Config) { c.Rate = 100_001 },
		"--duration 0s: give more than 0":                                               func(c *Config) { c.Duration = 0 },
		"--duration 1h0m0s: ":                                                           func(c *Config) { c.Duration = time.Hour },
		"can't be started":                                                              func(c *Config) { c.Program, c.Only = file, []string{"handler"} },
	} {
		c := tiny(t)
		change(&c)
		_, err := Run(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %v, without %q", err, want)
		}
		if c.Dir != file && filepath.Dir(c.Dir) != file {
			if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
				t.Errorf("%s: left are %v (%v)", want, left, err)
			}
		}
	}
}

// When the server fails, the end of its log is in the error.
func TestServerFails(t *testing.T) {
	s := beginSession(t, tiny(t))
	_, err := s.serve(t.Context(), s.path("data.db"), s.path("missing.pem"))
	if err == nil || !strings.Contains(err.Error(), "it ended before it was ready; it said: teamdata: --webhook-ca: ") {
		t.Errorf("the error is %v", err)
	}
}

// A refusal is an error, not a figure.
func TestRefused(t *testing.T) {
	s := beginSession(t, tiny(t))
	d, err := s.deploy(t.Context(), "refused", 1, true, 0)
	kit.Must(t, err)
	_, _, err = s.load(t.Context(), d.target, 2, newOrg(0, 0).test(0)) // with another secret
	if err == nil || !strings.Contains(err.Error(), `a request was answered HTTP/1.1 401 Unauthorized: {"error":`) {
		t.Errorf("the error is %v", err)
	}
}

// Settings in the environment are for another server, and not for the measured one.
func TestCleanEnvironment(t *testing.T) {
	t.Setenv("TEAMDATA_HTTP", "true")
	for _, variable := range cleanEnvironment() {
		if strings.HasPrefix(variable, "TEAMDATA_") {
			t.Errorf("%s is handed on", variable)
		}
	}
}

// A worker ends with its input, and takes nothing but jobs.
func TestWorkerInput(t *testing.T) {
	var out bytes.Buffer
	if err := Work(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("without a job it ended with %v and said %s", err, &out)
	}
	err := Work(t.Context(), strings.NewReader("hello\n"), &out)
	if err == nil || !strings.Contains(err.Error(), "only for teamdata bench") {
		t.Errorf("the error is %v", err)
	}
	err = Work(t.Context(), strings.NewReader(`{"Post":{"CAFile":"none.pem"}}`), &out)
	if err != nil || !strings.Contains(out.String(), "none.pem") {
		t.Errorf("a job that fails ended with %v and said %s", err, &out)
	}
}
