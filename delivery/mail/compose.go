package mail

import (
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// compose makes the mail that m describes. All of its errors are permanent.
func (s *Sender) compose(m Message) (*gomail.Msg, error) {
	to, err := recipient(m)
	if err != nil {
		return nil, err
	}
	if err := checkID(m.ID); err != nil {
		return nil, err
	}
	t, err := render(m.Template, m.Values, s.settings)
	if err != nil {
		return nil, err
	}
	msg := gomail.NewMsg()
	msg.FromMailAddress(s.from)
	msg.ToMailAddress(to)
	msg.Subject(t.subject)
	msg.SetDateWithValue(m.CreatedAt)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain())
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // so that no holiday notice answers it
	msg.SetGenHeader(gomail.HeaderXMailer, "teamdata")   // instead of go-mail's own
	msg.SetBodyString(gomail.TypeTextPlain, t.text)
	msg.AddAlternativeString(gomail.TypeTextHTML, t.html)
	return msg, nil
}

// domain is that of the sender's address.
func (s *Sender) domain() string {
	return s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:]
}
