package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Errors are one line, and say how to mend it.
func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"--only accpt: there is no such measurement; there are sync, handler, accept, ": func(c *Config) { c.Only = []string{"accpt"} },
		"choose a folder that you may write to":                                         func(c *Config) { c.Dir = file },
		"--dir: ":                                                                       func(c *Config) { c.Dir = filepath.Join(file, "none") },
		"--events 0: give a number from 1 to ":                                          func(c *Config) { c.Events = 0 },
		"--endpoints 3: give a number from 10":                                          func(c *Config) { c.Endpoints = 3 },
		"--duration 0s: give more than 0":                                               func(c *Config) { c.Duration = 0 },
		"--attempt-timeout 1h0m0s: ":                                                    func(c *Config) { c.AttemptTimeout = time.Hour },
		"can't be started":                                                              func(c *Config) { c.Program, c.Only = file, []string{"handler"} },
	} {
		c := tiny(t)
		change(&c)
		_, err := Run(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is %v, without %q", err, want)
		}
		if c.Dir != file && filepath.Dir(c.Dir) != file {
			isEmpty(t, c.Dir)
		}
	}
}

// When the appliance fails, its own words are told.
func TestApplianceFails(t *testing.T) {
	s := newSession(t)
	_, err := s.serve(t.Context(), s.path("data.db"), s.path("missing.pem"))
	if err == nil || !strings.Contains(err.Error(), "it ended before it was ready; it said: teamdata: --webhook-ca: ") {
		t.Errorf("the error is %v", err)
	}
}

// An answer that is none is an error, not a figure.
func TestRefused(t *testing.T) {
	s := newSession(t)
	a, err := s.prepareAccepting(t.Context(), "refused.db")
	if err != nil {
		t.Fatal(err)
	}
	defer a.end()
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = s.newAsker(t.Context(), a.appliance.server, 2, always(likeATest()))
	if err == nil || !strings.Contains(err.Error(), `a request was answered HTTP/1.1 401 Unauthorized: {"error":`) {
		t.Errorf("the error is %v", err)
	}
}

// Settings of an appliance in the environment are not those of the measured.
func TestCleanEnvironment(t *testing.T) {
	t.Setenv("TEAMDATA_HTTP", "true")
	for _, variable := range cleanEnvironment() {
		if strings.HasPrefix(variable, "TEAMDATA_") {
			t.Errorf("%s is handed on", variable)
		}
	}
}

// A part ends with its input, and takes nothing but jobs.
func TestPartInput(t *testing.T) {
	var out bytes.Buffer
	if err := Part(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("without a job it ended with %v and said %s", err, &out)
	}
	err := Part(t.Context(), strings.NewReader("hello\n"), &out)
	if err == nil || !strings.Contains(err.Error(), "for teamdata bench alone") {
		t.Errorf("the error is %v", err)
	}
	err = Part(t.Context(), strings.NewReader(`{"Post":{"CAFile":"none.pem"}}`), &out)
	if err != nil || !strings.Contains(out.String(), "none.pem") {
		t.Errorf("a job that fails ended with %v and said %s", err, &out)
	}
}
