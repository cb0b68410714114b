package postbox

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
)

// Mail is a mail that has arrived.
type Mail struct {
	To      string // the recipient's address
	Subject string
	Text    string // its plain text
}

// read reads a message of one plain text or of several parts, of which one is.
func read(r io.Reader) (m Mail, err error) {
	message, err := netmail.ReadMessage(r)
	if err != nil {
		return m, err
	}
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		return m, err
	}
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return m, err
	}
	body := message.Body
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		body, err = plainText(multipart.NewReader(body, parameters["boundary"]))
	case strings.EqualFold(message.Header.Get("Content-Transfer-Encoding"), "quoted-printable"):
		body = quotedprintable.NewReader(body)
	}
	if err != nil {
		return m, err
	}
	text, err := io.ReadAll(body)
	m.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
	return m, err
}

// plainText returns the part that is plain text, decoded.
func plainText(parts *multipart.Reader) (io.Reader, error) {
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil, errors.New("the mail has no plain text")
		}
		if err != nil {
			return nil, err
		}
		if kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type")); err == nil && kind == "text/plain" {
			return part, nil
		}
	}
}
