package settings

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"teamdata/admin/settings/signin"
	"teamdata/store"
)

// memberRow is a member as shown to people.
type memberRow struct {
	store.Member
	SignIn string // how far signing in came
	Keys   int    // that the member created, and that were neither revoked nor have expired
}

// Called is what people call the member by: name, address, or else user id.
func (m memberRow) Called() string { return cmp.Or(m.Name, m.Email, m.UserID) }

type membersPage struct {
	Text string // to search for; empty: all
	listPage[memberRow]
}

func (r *request) listMembers() error {
	p := membersPage{Text: strings.TrimSpace(r.HTTP.URL.Query().Get("q"))}
	return r.Show(200, "members", &p, func(tx store.Tx) error {
		created, err := store.CreatedKeys(tx, r.Org.ID)
		if err != nil {
			return err
		}
		p.listPage, err = search(r, records[store.Member, memberRow]{
			path: r.path("members"), filter: []string{"q", p.Text}, param: "after",
			read: func(after store.Cursor, limit int) ([]store.Member, error) {
				_, members, err := tx.ListMembers(r.Org.ID, after, limit)
				return members, err
			},
			at: func(m store.Member) store.Cursor { return store.CursorOf(m.CreatedAt, m.ID) },
			row: func(m store.Member) (row memberRow, matches bool, err error) {
				if !memberHas(m, p.Text) {
					return row, false, nil
				}
				row = memberRow{Member: m, Keys: len(created[m.UserID])}
				row.SignIn, err = signin.SignInOf(tx, m)
				return row, true, err
			},
		})
		return err
	})
}

// memberHas reports whether a field of a member contains a text, whatever its case.
func memberHas(m store.Member, text string) bool {
	return slices.ContainsFunc([]string{m.UserID, m.Name, m.Email, m.Role}, containsFold(text))
}

// memberPage is the data of member.html.
type memberPage struct {
	memberRow
	Err     *store.Error // why something could not be done; nil: nothing
	Self    bool         // it is the person who looks
	Roles   []string     // to choose from; none: the person may not change the role
	Mail    bool         // there is a mail server
	Invites bool         // the person may send an invitation

	SignInName string // of the account; empty: there is none
}

func (r *request) inviteAgain() error { return r.InviteAgain(r.renderMember) }

func (r *request) showMember() error { return r.renderMember(http.StatusOK, nil) }

// renderMember shows the member of the path, with an error or nil.
func (r *request) renderMember(status int, e *store.Error) error {
	p := memberPage{Err: e, Mail: r.s.config.Mailed != nil}
	return r.Show(status, "member", &p, func(tx store.Tx) error { return r.findMember(tx, &p) })
}

func (r *request) findMember(tx store.Tx, p *memberPage) (err error) {
	if p.Member, err = r.MemberOfPath(tx); err != nil {
		return err
	}
	created, err := store.CreatedKeys(tx, r.Org.ID)
	if err != nil {
		return err
	}
	p.Keys, p.Self = len(created[p.UserID]), p.UserID == r.Account.UserID
	if p.SignIn, err = signin.SignInOf(tx, p.Member); err != nil {
		return err
	}
	if p.SignIn != "" && p.SignIn != signin.SignInUninvited {
		a, err := tx.Account(p.UserID)
		if p.SignInName = a.SignInName; err != nil {
			return err
		}
	}
	mayChange := store.CheckGivesRole(r.Member, p.Role, p.Role) == nil
	p.Invites = mayChange && (p.SignIn == signin.SignInUninvited || p.SignIn == signin.SignInInvited)
	if mayChange {
		p.Roles = r.RolesToGive(append(slices.Clone(store.InvitedRoles), store.RoleMember))
		if !slices.Contains(p.Roles, p.Role) {
			p.Roles = append(p.Roles, p.Role)
		}
	}
	return nil
}

// changeMemberTo changes the member of the path to a role; an empty one removes the
// member. What the rules refuse is shown on the member's page. Who changes themselves
// may see the org no more, and starts over.
func (r *request) changeMemberTo(role, done, path string, change func(tx store.Tx, m store.Member) error) error {
	r.ExtraScope = store.OfUser(r.Param("member"))
	err := r.Change(func(tx store.Tx) error {
		m, err := r.MemberOfPath(tx)
		if err == nil {
			err = store.CheckGivesRole(r.Member, m.Role, role)
		}
		if err != nil {
			return err
		}
		return change(tx, m)
	})
	switch {
	case err != nil:
		return r.OnForm(err, r.renderMember)
	case r.Param("member") == r.actor():
		return r.Redirect(Path)
	}
	return r.Done(done, path)
}

func (r *request) changeRole() error {
	role := r.Field("role")
	return r.changeMemberTo(role, "role-changed", r.path("members", r.Param("member")), func(tx store.Tx, m store.Member) error {
		_, err := store.ChangeMember(tx, r.actor(), r.Org.ID, m.UserID, store.MemberChange{Role: &role})
		return err
	})
}

func (r *request) confirmRemoveMember() error {
	back := r.path("members", r.Param("member"))
	q := confirmPage{Title: "Remove this member?", Button: "Remove member", To: back + "/remove", Back: back}
	return r.Show(http.StatusOK, "confirm", &q, func(tx store.Tx) error {
		m, err := r.MemberOfPath(tx)
		if err == nil {
			err = store.CheckGivesRole(r.Member, m.Role, "")
		}
		if err != nil {
			return err
		}
		q.About = r.memberAsPerson(m).Name
		created, err := store.CreatedKeys(tx, r.Org.ID)
		q.Facts = []confirmFact{
			{"Now", cmp.Or(counted(len(created[m.UserID]), false, "API key", "API keys"), "No API keys"), "that they created will be revoked permanently."},
			{"From now on", "", "They no longer see this org."},
			{"Undo", "", "This can't be undone. To pause their keys, give them another role instead."},
		}
		return err
	})
}

func (r *request) removeMember() error {
	return r.changeMemberTo("", "member-removed", r.path("members"), func(tx store.Tx, m store.Member) error {
		return store.RemoveMember(tx, r.actor(), r.Org.ID, m.UserID)
	})
}
