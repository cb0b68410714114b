package teamdatatest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"teamdata/store"
	"teamdata/wire/fixture"
)

// seed is what a server is filled with, in the form of a fixture.
type seed struct {
	orgs     []*org
	fixtures [][]byte // more of them
}

type org struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Subscription subscription `json:"subscription"`
	Members      []member     `json:"members"`
	Keys         []key        `json:"apiKeys"`
	Endpoints    []endpoint   `json:"webhooks"`
}

type subscription struct {
	Plan string `json:"plan,omitempty"`
}

type member struct {
	UserID string `json:"userId"`
	Role   string `json:"role"`
	Email  string `json:"email"`
}

type key struct {
	ID        string   `json:"id"`
	Secret    string   `json:"secret"`
	Scopes    []string `json:"scopes"`
	CreatedBy string   `json:"createdBy"`
}

type endpoint struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	URL    string   `json:"url,omitempty"`
	Events []string `json:"events"`
}

// OrgOption adds to an org.
type OrgOption func(*Server, *org)

// Org adds an org. Without a member whose role is owner it gets the owner usr_owner.
// It has a key with all scopes, which [Server.Key] returns for the org's id.
func Org(id string, options ...OrgOption) Option {
	return func(s *Server) {
		o := &org{ID: id, Name: id, Members: []member{}, Endpoints: []endpoint{}}
		o.Keys = []key{newKey("key_"+strings.TrimPrefix(id, store.PrefixOrg), "read", "write", "receive")}
		for _, add := range options {
			add(s, o)
		}
		isOwner := func(m member) bool { return m.Role == store.RoleOwner }
		if !slices.ContainsFunc(o.Members, isOwner) {
			o.Members = append([]member{newMember("usr_owner", store.RoleOwner)}, o.Members...)
		}
		creator := o.Members[slices.IndexFunc(o.Members, isOwner)].UserID
		for i := range o.Keys {
			o.Keys[i].CreatedBy = creator
		}
		s.seed.orgs = append(s.seed.orgs, o)
	}
}

// Member adds a member to an org, with the address of its user id at example.com.
func Member(userID, role string) OrgOption {
	return func(_ *Server, o *org) { o.Members = append(o.Members, newMember(userID, role)) }
}

func newMember(userID, role string) member { return member{userID, role, userID + "@example.com"} }

// Key adds an API key with some scopes of read, write and receive. [Server.Key] returns it.
func Key(id string, scopes ...string) OrgOption {
	return func(_ *Server, o *org) { o.Keys = append(o.Keys, newKey(id, scopes...)) }
}

// newKey makes a key with a secret that the test need not know.
func newKey(id string, scopes ...string) key {
	return key{ID: id, Secret: "teamdatatest", Scopes: scopes}
}

// Endpoint adds a webhook endpoint of the server's [Receiver]. It selects the given
// event types, groups such as member.*, or * for all; without any, all that are built
// in.
func Endpoint(id string, events ...string) OrgOption {
	return func(s *Server, o *org) {
		EndpointAt(id, s.receiver.URL+"/"+o.ID+"/"+id, events...)(s, o)
	}
}

// EndpointAt is [Endpoint] for a receiver of the test's own, at an https URL. If its
// certificate is not from a public CA, [Trust] makes the server accept it.
func EndpointAt(id, url string, events ...string) OrgOption {
	return addEndpoint(endpoint{id, store.KindPush, url, events})
}

// PullEndpoint is [Endpoint] for one whose events are not sent, but pulled: by consumers of
// the test's own, or by [Server.Pull].
func PullEndpoint(id string, events ...string) OrgOption {
	return addEndpoint(endpoint{id, store.KindPull, "", events})
}

func addEndpoint(e endpoint) OrgOption {
	if len(e.Events) == 0 {
		e.Events = []string{store.AllEvents}
	}
	return func(_ *Server, o *org) { o.Endpoints = append(o.Endpoints, e) }
}

// Plan puts an org on a plan, such as free. Otherwise it has all features.
func Plan(name string) OrgOption {
	return func(_ *Server, o *org) { o.Subscription.Plan = name }
}

// Fixture adds the content of a fixture, as serve --seed reads it.
func Fixture(content string) Option {
	return func(s *Server) { s.seed.fixtures = append(s.seed.fixtures, []byte(content)) }
}

// Key returns the key of an org, or the one with an id of a [Key] option, as clients
// send it.
func (s *Server) Key(id string) string {
	for _, o := range s.seed.orgs {
		for i, k := range o.Keys {
			if k.ID == id || i == 0 && o.ID == id {
				return k.ID + "." + k.Secret
			}
		}
	}
	s.t.Fatalf("no option of Start has an org or a key with the id %q", id)
	return ""
}

// fill imports the seed.
func (s *seed) fill(into store.Store) error {
	content, err := json.Marshal(map[string]any{"orgs": s.orgs})
	if err != nil {
		return err
	}
	for _, f := range append([][]byte{content}, s.fixtures...) {
		_, errImport := fixture.Import(context.Background(), into, bytes.NewReader(f), nil)
		err = cmp.Or(err, errImport)
	}
	return err
}
