package teamdatatest

// Mail is a mail that the server sent.
type Mail struct {
	To      string // the recipient's address
	Subject string
	Text    string // its plain text
}

// Mails returns all mail that the server has sent, in order.
func (s *Server) Mails() (mails []Mail) {
	for _, m := range s.mailbox.Mails() {
		mails = append(mails, Mail(m))
	}
	return mails
}
