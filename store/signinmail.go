package store

import (
	"maps"
	"time"
)

// MailSignInLink is the template of the mail with a sign-in link. It is queued with
// the values userId and until; orgName and token are added when it is sent: no
// token waits in the data file.
const MailSignInLink = "signInLink"

// QueueSignInLink queues a mail with a link for a member who manages an org, to
// the account's address, and returns that. notFound: the org has no such member;
// conflict: the member manages nothing, or has no address.
func QueueSignInLink(tx Tx, orgID, userID string, ttl time.Duration) (to string, err error) {
	m, err := findManager(tx, orgID, userID, ttl)
	if err != nil {
		return "", err
	}
	a, err := openAccount(tx, m)
	if err != nil {
		return "", err
	}
	if a.Email == "" {
		return "", Errorf(CodeConflict, "%q has no address of their own to send mail to. Set one with: teamdata member change %[1]s --email ADDRESS", userID)
	}
	return a.Email, tx.PutMail(Mail{
		ID: tx.NewID(PrefixMail), OrgID: orgID, To: a.Email, Name: m.Name, Template: MailSignInLink,
		Values:    map[string]string{"userId": userID, "until": FormatTime(tx.Now().Add(ttl))},
		CreatedAt: tx.Now(), DueAt: tx.Now(),
	})
}

// SignInLinkValues makes the link of a queued mail, and returns all of the mail's
// values. Of a mail that is sent again the link before stays good: it may have
// arrived after all. notFound, conflict: there is no link to send any more, since
// the time is up or the member manages nothing.
func SignInLinkValues(tx Tx, queued Mail) (map[string]string, error) {
	values := maps.Clone(queued.Values)
	until, err := time.Parse(time.RFC3339, values["until"])
	if err != nil || !tx.Now().Before(until) {
		return nil, Errorf(CodeConflict, "The time in which the link was to be used is over.")
	}
	org, err := tx.Org(queued.OrgID)
	if err != nil {
		return nil, err
	}
	values["orgName"] = org.Name
	_, values["token"], err = CreateSignInLink(tx, queued.OrgID, values["userId"], until.Sub(tx.Now()))
	return values, err
}

// FirstOwner is the owner who should get the first link: while nobody can sign in
// yet, the first of the first org that has one. notFound: somebody can, or there
// is no owner. It looks at the first 100 orgs.
func FirstOwner(tx Tx) (Member, error) {
	none := Errorf(CodeNotFound, "There is no owner who waits for a first sign-in link.")
	orgs, err := tx.Orgs("", 100)
	if err != nil {
		return Member{}, err
	}
	var first Member
	for _, org := range orgs {
		managers, err := tx.Managers(org.ID)
		if err != nil {
			return Member{}, err
		}
		for _, m := range managers {
			if _, err := tx.Account(m.UserID); !IsNotFound(err) {
				return Member{}, orElse(err, none)
			}
			if first.UserID == "" && m.Role == RoleOwner {
				first = m
			}
		}
	}
	if first.UserID == "" {
		return Member{}, none
	}
	return first, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
