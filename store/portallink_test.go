package store_test

import (
	"errors"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

const guest = "usr_guest"

// newPortalLink makes a portal link of acme, and returns its token.
func (s *subject) newPortalLink(user, role string) (token string) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		_, token, err = store.CreatePortalLink(tx, ada, user, store.Portal{OrgID: acme, Role: role}, time.Hour)
		return err
	})
	return token
}

func usePortalLink(token string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, _, err := store.UsePortalLink(tx, token, "Browser/1")
		return err
	}
}

// portalSession makes a link and uses it, and returns the session and its cookie.
func (s *subject) portalSession(user, role string) (v store.Session, cookie string) {
	s.Helper()
	token := s.newPortalLink(user, role)
	s.Write(func(tx store.Tx) (err error) {
		v, cookie, err = store.UsePortalLink(tx, token, "Browser/1")
		return err
	})
	return v, cookie
}

// TestPortalLinks: a portal link grants one org and one role, once, and changes neither
// the members nor the accounts.
func TestPortalLinks(t *testing.T) { onBoth(t, testPortalLinks) }

func testPortalLinks(s *subject) {
	s.Write(storetest.Fill)
	for what, refused := range map[string]struct {
		code   store.Code
		org    string
		user   string
		portal store.Portal
		ttl    time.Duration
	}{
		"no org":           {store.CodeNotFound, "org_none", guest, store.Portal{Role: store.RoleViewer}, time.Hour},
		"no user":          {store.CodeBadRequest, acme, "", store.Portal{Role: store.RoleViewer}, time.Hour},
		"no role":          {store.CodeBadRequest, acme, guest, store.Portal{}, time.Hour},
		"owner":            {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleOwner}, time.Hour},
		"member":           {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleMember}, time.Hour},
		"no time":          {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleViewer}, 0},
		"too much time":    {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleViewer}, time.Hour + 1},
		"a bad address":    {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleViewer, Email: "x"}, time.Hour},
		"a name of 201":    {store.CodeBadRequest, acme, guest, store.Portal{Role: store.RoleViewer, Name: string(make([]byte, 201))}, time.Hour},
		"a user with a sp": {store.CodeBadRequest, acme, "usr x", store.Portal{Role: store.RoleViewer}, time.Hour},
	} {
		s.refused("a link with "+what, refused.code, func(tx store.Tx) error {
			refused.portal.OrgID = refused.org
			_, _, err := store.CreatePortalLink(tx, ada, refused.user, refused.portal, refused.ttl)
			return err
		})
	}
	token := s.newPortalLink(guest, store.RoleViewer)
	s.changesNothing("looking", func(tx store.Tx) error { return second(store.FindSignInLink(tx, token)) })
	s.refused("as one that lets a password be chosen", store.CodeUnauthorized, useLink(token))
	s.refused("a link that lets a password be chosen", store.CodeUnauthorized, usePortalLink(s.newLink(ada, time.Hour)))
	s.Clock.Move(time.Hour - time.Millisecond)
	s.Write(usePortalLink(token))
	s.refused("used again", store.CodeUnauthorized, usePortalLink(token))
	s.Read(func(tx store.Tx) error {
		_, err := tx.Member(acme, guest)
		s.Code("the guest as a member", err, store.CodeNotFound)
		_, err = tx.Account(guest)
		s.Code("an account of the guest", err, store.CodeNotFound)
		return nil
	})

	late := s.newPortalLink(guest, store.RoleViewer)
	s.Clock.Move(time.Hour)
	s.refused("at its end", store.CodeUnauthorized, usePortalLink(late))
}

// TestPortalSession: it has the role of its link whatever the person's membership is,
// ends after its time, and by signing out.
func TestPortalSession(t *testing.T) { onBoth(t, testPortalSession) }

func testPortalSession(s *subject) {
	s.Write(storetest.Fill)
	v, cookie := s.portalSession(ada, store.RoleViewer) // an owner
	s.Equal("the person", v.Portal.Member(ada).Role, store.RoleViewer)
	s.Equal("and whether she manages the org", v.Portal.Member(ada).Manages(), false)
	s.Equal("the address is the membership's", v.Portal.Email, "ada@example.com")
	find := func(cookie string) func(store.Tx) error {
		return func(tx store.Tx) error { return second(store.FindSession(tx, cookie)) }
	}
	touch := func(tx store.Tx) error { return store.TouchSession(tx, v.ID) }
	s.Write(find(cookie))
	s.Clock.Move(11 * time.Hour)
	s.Write(touch)
	s.Clock.Move(time.Hour - time.Millisecond)
	s.Write(find(cookie))
	s.Clock.Move(time.Millisecond)
	s.refused("after its time, though it was in use", store.CodeUnauthorized, find(cookie))

	v, cookie = s.portalSession(guest, store.RoleAdmin)
	s.Write(func(tx store.Tx) error { return store.SignOut(tx, v) })
	s.refused("signed out", store.CodeUnauthorized, find(cookie))
}

// TestPortalEndsWithTheMembership: whoever is removed, demoted or added since the link
// was made needs another one, and so does everybody once the org is deleted.
func TestPortalEndsWithTheMembership(t *testing.T) { onBoth(t, testPortalEndsWithTheMembership) }

func testPortalEndsWithTheMembership(s *subject) {
	s.Write(storetest.Fill)
	change := map[string]func(tx store.Tx) error{
		bob: func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleMember) },
		eve: func(tx store.Tx) error { return store.RemoveMember(tx, ada, acme, eve) },
		guest: func(tx store.Tx) error {
			return addMember(tx, store.Member{OrgID: acme, UserID: guest, Role: "member"})
		},
	}
	holds := func(v store.Session, want bool) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			is, err := v.Portal.Holds(tx, v.UserID)
			s.Equal("whether the portal of "+v.UserID+" holds", is, want)
			return err
		})
	}
	for user, change := range change {
		link := s.newPortalLink(user, store.RoleAdmin)
		v, _ := s.portalSession(user, store.RoleAdmin)
		holds(v, true)
		s.Write(change)
		holds(v, false)
		s.refused("a link of "+user+" from before", store.CodeUnauthorized, usePortalLink(link))
		s.Write(usePortalLink(s.newPortalLink(user, store.RoleAdmin)))
	}
	v, _ := s.portalSession("usr_other", store.RoleViewer)
	s.Write(func(tx store.Tx) error { return store.DeleteOrg(tx, acme) })
	holds(v, false)
}

// TestEndPortalSession: the portal sessions of an org that hold are listed, however many
// others there are, and each of them can be ended, that of somebody who is no member too.
func TestEndPortalSession(t *testing.T) { onBoth(t, testEndPortalSession) }

func testEndPortalSession(s *subject) {
	s.Write(storetest.Fill)
	first, cookie := s.portalSession(guest, store.RoleViewer)
	demoted, _ := s.portalSession(bob, store.RoleViewer)
	s.Write(func(tx store.Tx) error {
		var err error
		for range many {
			v := store.Session{ID: tx.NewID(store.PrefixSession), UserID: guest, CreatedAt: tx.Now(), LastSeenAt: tx.Now(), Portal: store.Portal{OrgID: other}}
			err = errors.Join(err, tx.PutSession(v))
		}
		return err
	})
	last, _ := s.portalSession(guest, store.RoleAdmin)
	listed := func(limit int) (ids []string) {
		s.Read(func(tx store.Tx) error {
			for after, more := "", true; more; {
				var found []store.Session
				var err error
				if found, after, more, err = store.PortalSessions(tx, acme, after, limit); err != nil || len(found) > limit {
					s.Fatalf("%d sessions, %v", len(found), err)
				}
				for _, v := range found {
					ids = append(ids, v.ID)
				}
			}
			return nil
		})
		return ids
	}
	for limit := 1; limit <= 4; limit++ {
		s.Equal("sessions", listed(limit), []string{first.ID, demoted.ID, last.ID})
	}
	s.Write(func(tx store.Tx) error { return changeRole(tx, ada, acme, bob, store.RoleViewer) })
	s.Equal("once a role has changed", listed(9), []string{first.ID, last.ID})
	end := func(org, id string) func(store.Tx) error {
		return func(tx store.Tx) error { return store.EndPortalSession(tx, "opr_1", org, id) }
	}
	s.refused("one of another org", store.CodeNotFound, end(other, first.ID))
	s.refused("none", store.CodeNotFound, end(acme, "ses_none"))
	s.refused("one of an account", store.CodeNotFound, end(acme, "ses_1"))
	s.Write(end(acme, first.ID))
	s.Equal("the rest", listed(9), []string{last.ID})
	s.refused("ended again", store.CodeNotFound, end(acme, first.ID))
	s.Read(func(tx store.Tx) error {
		_, err := store.FindSession(tx, cookie)
		s.Code("the cookie of the ended", err, store.CodeUnauthorized)
		return nil
	})
	s.Clock.Move(store.PortalSessionAge)
	s.Equal("after 12 hours", len(listed(9)), 0)
}
