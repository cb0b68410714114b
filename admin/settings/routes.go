package settings

// route is one page, or one thing that a page's form does.
type route struct {
	method string
	path   string // below Path
	handle func(*request) error
	access access
}

// access says who may use a route.
type access int

const (
	noPortal access = iota // the route is not in an org, and not for portal sessions; its handler checks who asks
	anyone                 // the route is not in an org; its handler checks who asks
	viewers                // people who may see the org; the page shows no secret and is no form
	managers               // people who manage the org
	inviters               // people who manage the org, but no portal session: a change of members would outlast it
)

// signedIn authorizes a request before a handler that doesn't begin with a View or a
// Change of its own.
func signedIn(handle func(*request) error) func(*request) error {
	return func(r *request) error {
		if err := r.View(nil); err != nil {
			return err
		}
		return handle(r)
	}
}

// routes are all routes. GET changes nothing except the audit log, which records who
// viewed secrets and who exported it.
var routes = []route{
	{"GET", "", signedIn((*request).home), anyone},
	{"GET", "/assets/:name", (*request).sendAsset, anyone},

	{"GET", "/sign-in", (*request).ShowSignIn, noPortal},
	{"POST", "/sign-in", (*request).SignIn, noPortal},
	{"POST", "/sign-in/draft", (*request).restoreDraft, noPortal},
	{"POST", "/sign-out", (*request).SignOut, anyone},
	{"GET", "/forgot", (*request).ShowForgot, noPortal},
	{"POST", "/forgot", (*request).SendForgotten, noPortal},
	{"GET", "/link/:token", (*request).ShowLink, anyone},
	{"POST", "/link/:token", (*request).UseLink, anyone},
	{"POST", "/passkeys/sign-in/begin", (*request).BeginPasskeySignIn, noPortal},
	{"POST", "/passkeys/sign-in/finish", (*request).SignInByPasskey, noPortal},
	{"POST", "/passkeys/add/begin", (*request).BeginPasskey, noPortal},
	{"POST", "/passkeys/add/finish", (*request).AddPasskey, noPortal},
	{"GET", "/account", (*request).ShowAccount, noPortal},
	{"POST", "/account/theme", signedIn((*request).setTheme), anyone},
	{"GET", "/account/password", (*request).ShowPassword, noPortal},
	{"POST", "/account/password", signedIn((*request).ChangePassword), noPortal},
	{"GET", "/account/passkeys/:passkey/remove", (*request).confirmRemovePasskey, noPortal},
	{"POST", "/account/passkeys/:passkey/remove", (*request).RemovePasskey, noPortal},
	{"POST", "/account/sessions/:session/end", (*request).EndSession, noPortal},
	{"POST", "/account/end-other-sessions", (*request).EndOtherSessions, noPortal},
	{"GET", "/orgs", (*request).showOrgs, anyone},

	{"GET", "/orgs/:org", (*request).showOverview, viewers},
	{"GET", "/orgs/:org/first-hour/live", (*request).watchFirstHour, managers},
	{"POST", "/orgs/:org/first-hour/hide", signedIn((*request).hideFirstHour), managers},
	{"GET", "/orgs/:org/keys", (*request).listKeys, viewers},
	{"GET", "/orgs/:org/new-key", (*request).newKey, managers},
	{"POST", "/orgs/:org/new-key", (*request).createKey, managers},
	{"GET", "/orgs/:org/keys/:key", (*request).showKey, viewers},
	{"GET", "/orgs/:org/keys/:key/revoke", (*request).confirmRevokeKey, managers},
	{"POST", "/orgs/:org/keys/:key/revoke", (*request).revokeKey, managers},
	{"GET", "/orgs/:org/members", (*request).listMembers, viewers},
	{"GET", "/orgs/:org/new-member", (*request).ShowInvite, inviters},
	{"POST", "/orgs/:org/new-member", signedIn((*request).Invite), inviters},
	{"GET", "/orgs/:org/members/:member", (*request).showMember, viewers},
	{"POST", "/orgs/:org/members/:member/role", (*request).changeRole, inviters},
	{"POST", "/orgs/:org/members/:member/invite", (*request).inviteAgain, inviters},
	{"GET", "/orgs/:org/members/:member/remove", (*request).confirmRemoveMember, inviters},
	{"POST", "/orgs/:org/members/:member/remove", (*request).removeMember, inviters},
	{"GET", "/orgs/:org/audit-log", (*request).showAuditLog, viewers},
	{"GET", "/orgs/:org/audit-log/export", (*request).exportAuditLog, viewers},
	{"GET", "/orgs/:org/instructions", (*request).showInstructions, viewers},
	{"POST", "/orgs/:org/instructions", (*request).saveInstructions, managers},
	{"GET", "/orgs/:org/instructions/clear", (*request).confirmClearInstructions, managers},
	{"POST", "/orgs/:org/instructions/clear", (*request).clearInstructions, managers},
	{"GET", "/orgs/:org/subscription", (*request).showSubscription, viewers},

	{"GET", "/orgs/:org/endpoints", (*request).listEndpoints, viewers},
	{"GET", "/orgs/:org/new-endpoint", (*request).newEndpoint, managers},
	{"POST", "/orgs/:org/new-endpoint", (*request).createEndpoint, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint", (*request).showEndpoint, viewers},
	{"GET", "/orgs/:org/endpoints/:endpoint/live", (*request).showEndpoint, viewers},
	{"GET", "/orgs/:org/endpoints/:endpoint/setup", (*request).showSetup, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/setup/live", (*request).showSetup, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/setup", (*request).createPullKey, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/settings", (*request).editEndpoint, viewers},
	{"POST", "/orgs/:org/endpoints/:endpoint/settings", (*request).updateEndpoint, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/secret", (*request).showSecret, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/headers", (*request).showHeaders, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/rotate", (*request).showRotate, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/rotate", (*request).rotateSecret, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/enable", (*request).enableEndpoint, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/disable", (*request).confirmDisable, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/disable", (*request).disableEndpoint, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/delete", (*request).confirmDelete, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/delete", (*request).deleteEndpoint, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/test", (*request).sendTest, managers},
	{"GET", "/orgs/:org/endpoints/:endpoint/deliveries", (*request).listDeliveries, viewers},
	{"GET", "/orgs/:org/endpoints/:endpoint/verify", (*request).showVerify, managers},
	{"POST", "/orgs/:org/endpoints/:endpoint/verify", (*request).verifyRequest, managers},
	{"GET", "/orgs/:org/deliveries", (*request).listDeliveries, viewers},
	{"GET", "/orgs/:org/deliveries/:delivery", (*request).showDelivery, viewers},
	{"GET", "/orgs/:org/events", (*request).listEvents, viewers},
	{"GET", "/orgs/:org/events/:event", (*request).showEvent, viewers},
	{"GET", "/orgs/:org/event-types", (*request).listEventTypes, viewers},
	{"GET", "/orgs/:org/event-types/:type", (*request).showEventType, viewers},
	{"GET", "/orgs/:org/deliveries/:delivery/live", (*request).showDelivery, viewers},
	{"POST", "/orgs/:org/deliveries/:delivery/replay", (*request).replayDelivery, managers},
	{"GET", "/orgs/:org/replay", signedIn((*request).showReplay), managers},
	{"POST", "/orgs/:org/replay", signedIn((*request).startReplay), managers},
	{"GET", "/orgs/:org/replays/:replay", (*request).showReplayJob, viewers},
	{"GET", "/orgs/:org/replays/:replay/live", (*request).showReplayJob, viewers},
	{"POST", "/orgs/:org/replays/:replay/cancel", (*request).cancelReplay, managers},
}

func (rt *route) pattern() (method, path string) { return rt.method, rt.path }

// orgParam is the parameter of the org that a path is in.
const orgParam = "org"
