package program

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postbox"
	"teamdata/internal/localca"
)

// Postbox is an SMTP server that wants STARTTLS and AUTH, and answers each
// recipient's first mail with 451.
type Postbox struct {
	*postbox.Postbox
	CAFile string
}

func OpenPostbox(t testing.TB) *Postbox {
	t.Helper()
	caFile := filepath.Join(t.TempDir(), "smtp.ca.pem")
	config, err := localca.Loopback(time.Now(), "postbox", caFile)
	kit.Must(t, err)
	box, err := postbox.Open(postbox.Config{TLS: config, PutOff: true})
	kit.Must(t, err)
	t.Cleanup(func() { box.Close() })
	return &Postbox{box, caFile}
}

// Next waits for the next mail.
func (b *Postbox) Next(t testing.TB) postbox.Mail {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := b.Postbox.Next(ctx)
	if err != nil {
		t.Fatal("no mail came")
	}
	return m
}

// Recipients are those of all mail that has arrived.
func (b *Postbox) Recipients() (to []string) {
	for _, m := range b.Mails() {
		to = append(to, m.To)
	}
	slices.Sort(to)
	return to
}

// MailSeed is a fixture of an org with an owner, an admin, and a member who gets no mail.
func MailSeed(t *testing.T, url string) string {
	t.Helper()
	content := fmt.Sprintf(`{"orgs":[{"id":"org_acme","name":"Acme","members":[
		{"userId":"usr_ada","role":"owner","name":"Ada","email":"ada@acme.example"},
		{"userId":"usr_bob","role":"admin","email":"bob@acme.example"},
		{"userId":"usr_cy","role":"member","email":"cy@acme.example"}],
		"apiKeys":[{"id":"key_write","secret":"example-writer-secret","scopes":["write"],"createdBy":"usr_ada"},
			{"id":"key_read","secret":"example-reader-secret","scopes":["read"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_hook","url":%q,"events":["webhook.test"]}]}]}`, url)
	return kit.NewFile(t, "seed.json", content)
}
