package mail

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A person's name has 80 characters, the reason of a failure 400, and a mail 30 s,
// unless the settings say another time.
func TestFigures(t *testing.T) {
	s, err := New(Config{URL: "smtp://mail.example.com", From: "a@example.com", SettingsURL: "https://data.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if s.timeout != 30*time.Second {
		t.Errorf("a mail has %s", s.timeout)
	}
	for characters, more := range map[string][2]int{"é": {80, 400}, "éé": {80, 400}} {
		name := utf8.RuneCountInString(personName(strings.Repeat(characters, 80)))
		reason := s.relay.failure(t.Context(), errors.New(strings.Repeat(characters, 400))).Error()
		_, reason, _ = strings.Cut(reason, ":587: ")
		if got := [2]int{name, utf8.RuneCountInString(reason)}; got != more {
			t.Errorf("a name and a reason have %d characters, not %d: %s", got, more, reason)
		}
	}
}
