package mail

import (
	"embed"
	"fmt"
	htmltemplate "html/template"
	"io"
	"strings"
	"sync"
	texttemplate "text/template"
	"time"

	gomail "github.com/wneessen/go-mail"
)

//go:embed templates
var files embed.FS

// templates are all mails, by name. Each has two files: NAME.txt with the text and the
// subject, and NAME.html with the same as HTML, within layout.html. They are parsed for
// the first mail, so that the program's commands don't wait for them.
var templates = sync.OnceValue(func() map[string]pair {
	all := map[string]pair{}
	for _, name := range []string{"endpointDisabled", "notPulled", "apiKeyExpiring", "certificateExpiring", "signInLink"} {
		all[name] = load(name)
	}
	return all
})

type pair struct {
	text *texttemplate.Template
	html *htmltemplate.Template
}

// rendered is a template with its values.
type rendered struct{ subject, text, html string }

var funcs = map[string]any{"short": short, "when": when}

// load panics if a file is missing or malformed, which every test of a mail finds.
func load(name string) pair {
	const option = "missingkey=error" // a mail with a gap would mislead
	return pair{
		texttemplate.Must(texttemplate.New(name+".txt").Funcs(funcs).Option(option).ParseFS(files, "templates/"+name+".txt")),
		htmltemplate.Must(htmltemplate.New("layout.html").Funcs(funcs).Option(option).ParseFS(files, "templates/layout.html", "templates/"+name+".html")),
	}
}

// render fills in the named template. It fails if there is no such template, or
// if values lacks a value that it uses. A value's line breaks become spaces.
func render(name string, values map[string]string, settingsURL string) (rendered, error) {
	t, ok := templates()[name]
	if !ok {
		return rendered{}, fmt.Errorf("there is no mail template %q", short(80, name))
	}
	plain := make(map[string]string, len(values)+1)
	for key, value := range values {
		plain[key] = oneLine(value)
	}
	plain["settingsUrl"] = settingsURL
	return t.render(plain)
}

func (t pair) render(values map[string]string) (rendered, error) {
	var r rendered
	for _, part := range []struct {
		to      *string
		name    string
		execute func(w io.Writer, name string, data any) error
	}{
		{&r.subject, "subject", t.text.ExecuteTemplate},
		{&r.text, t.text.Name(), t.text.ExecuteTemplate},
		{&r.html, t.html.Name(), t.html.ExecuteTemplate},
	} {
		var b strings.Builder
		if err := part.execute(&b, part.name, values); err != nil {
			return rendered{}, err
		}
		*part.to = b.String()
	}
	r.subject = inHeader(r.subject)
	return r, nil
}

// when formats a time for people: 2026-11-21T12:00:05.250Z is 21 November 2026,
// 12:00:05 UTC. Any other text stays as it is.
func when(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Format("2 January 2006, 15:04:05 UTC")
}

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
	msg.SetMessageIDWithValue(m.ID + s.from.Address[strings.LastIndexByte(s.from.Address, '@'):])
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // prevents out-of-office replies
	msg.SetGenHeader(gomail.HeaderXMailer, "teamdata")   // instead of go-mail's own
	msg.SetBodyString(gomail.TypeTextPlain, t.text)
	msg.AddAlternativeString(gomail.TypeTextHTML, t.html)
	return msg, nil
}
