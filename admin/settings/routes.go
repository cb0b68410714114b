package settings

// route is one page, or one thing that a page's form does.
type route struct {
	method string
	path   string // below Path
	handle func(*request) error
}

// routes are all routes. Those below /orgs/:org are for people who manage the
// org, and those in viewable for viewers too. GET changes nothing except the audit log, which records who viewed secrets
// and who exported it.
var routes = []route{
	{"GET", "", (*request).home},
	{"GET", "/assets/:name", (*request).sendAsset},

	{"GET", "/sign-in", (*request).ShowSignIn},
	{"POST", "/sign-in", (*request).SignIn},
	{"POST", "/sign-in/draft", (*request).restoreDraft},
	{"POST", "/sign-out", (*request).SignOut},
	{"GET", "/forgot", (*request).ShowForgot},
	{"POST", "/forgot", (*request).SendForgotten},
	{"GET", "/link/:token", (*request).ShowLink},
	{"POST", "/link/:token", (*request).UseLink},
	{"POST", "/passkeys/sign-in/begin", (*request).BeginPasskeySignIn},
	{"POST", "/passkeys/sign-in/finish", (*request).SignInByPasskey},
	{"POST", "/passkeys/add/begin", (*request).BeginPasskey},
	{"POST", "/passkeys/add/finish", (*request).AddPasskey},
	{"GET", "/account", (*request).ShowAccount},
	{"POST", "/account/theme", (*request).setTheme},
	{"GET", "/account/password", (*request).ShowPassword},
	{"POST", "/account/password", (*request).ChangePassword},
	{"GET", "/account/passkeys/:passkey/remove", (*request).confirmRemovePasskey},
	{"POST", "/account/passkeys/:passkey/remove", (*request).RemovePasskey},
	{"POST", "/account/sessions/:session/end", (*request).EndSession},
	{"POST", "/account/end-other-sessions", (*request).EndOtherSessions},
	{"GET", "/orgs", (*request).showOrgs},

	{"GET", "/orgs/:org", (*request).showOverview},
	{"GET", "/orgs/:org/first-hour/live", (*request).watchFirstHour},
	{"POST", "/orgs/:org/first-hour/hide", (*request).hideFirstHour},
	{"GET", "/orgs/:org/keys", (*request).listKeys},
	{"GET", "/orgs/:org/new-key", (*request).newKey},
	{"POST", "/orgs/:org/new-key", (*request).createKey},
	{"GET", "/orgs/:org/keys/:key", (*request).showKey},
	{"GET", "/orgs/:org/keys/:key/revoke", (*request).confirmRevokeKey},
	{"POST", "/orgs/:org/keys/:key/revoke", (*request).revokeKey},
	{"GET", "/orgs/:org/members", (*request).listMembers},
	{"GET", "/orgs/:org/new-member", (*request).ShowInvite},
	{"POST", "/orgs/:org/new-member", (*request).Invite},
	{"GET", "/orgs/:org/members/:member", (*request).showMember},
	{"POST", "/orgs/:org/members/:member/role", (*request).changeRole},
	{"POST", "/orgs/:org/members/:member/invite", (*request).inviteAgain},
	{"GET", "/orgs/:org/members/:member/remove", (*request).confirmRemoveMember},
	{"POST", "/orgs/:org/members/:member/remove", (*request).removeMember},
	{"GET", "/orgs/:org/audit-log", (*request).showAuditLog},
	{"GET", "/orgs/:org/audit-log/export", (*request).exportAuditLog},
	{"GET", "/orgs/:org/instructions", (*request).showInstructions},
	{"POST", "/orgs/:org/instructions", (*request).saveInstructions},
	{"GET", "/orgs/:org/instructions/clear", (*request).confirmClearInstructions},
	{"POST", "/orgs/:org/instructions/clear", (*request).clearInstructions},
	{"GET", "/orgs/:org/subscription", (*request).showSubscription},

	{"GET", "/orgs/:org/endpoints", (*request).listEndpoints},
	{"GET", "/orgs/:org/new-endpoint", (*request).newEndpoint},
	{"POST", "/orgs/:org/new-endpoint", (*request).createEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint", (*request).showEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint/live", (*request).watchEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint/setup", (*request).showSetup},
	{"GET", "/orgs/:org/endpoints/:endpoint/setup/live", (*request).watchSetup},
	{"GET", "/orgs/:org/endpoints/:endpoint/settings", (*request).editEndpoint},
	{"POST", "/orgs/:org/endpoints/:endpoint/settings", (*request).updateEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint/secret", (*request).showSecret},
	{"GET", "/orgs/:org/endpoints/:endpoint/rotate", (*request).showRotate},
	{"POST", "/orgs/:org/endpoints/:endpoint/rotate", (*request).rotateSecret},
	{"POST", "/orgs/:org/endpoints/:endpoint/enable", (*request).enableEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint/disable", (*request).confirmDisable},
	{"POST", "/orgs/:org/endpoints/:endpoint/disable", (*request).disableEndpoint},
	{"GET", "/orgs/:org/endpoints/:endpoint/delete", (*request).confirmDelete},
	{"POST", "/orgs/:org/endpoints/:endpoint/delete", (*request).deleteEndpoint},
	{"POST", "/orgs/:org/endpoints/:endpoint/test", (*request).sendTest},
	{"GET", "/orgs/:org/endpoints/:endpoint/deliveries", (*request).listDeliveries},
	{"GET", "/orgs/:org/endpoints/:endpoint/verify", (*request).showVerify},
	{"POST", "/orgs/:org/endpoints/:endpoint/verify", (*request).verifyRequest},
	{"GET", "/orgs/:org/deliveries", (*request).listDeliveries},
	{"GET", "/orgs/:org/deliveries/:delivery", (*request).showDelivery},
	{"GET", "/orgs/:org/events", (*request).listEvents},
	{"GET", "/orgs/:org/events/:event", (*request).showEvent},
	{"GET", "/orgs/:org/event-types", (*request).listEventTypes},
	{"GET", "/orgs/:org/event-types/:type", (*request).showEventType},
	{"GET", "/orgs/:org/deliveries/:delivery/live", (*request).watchDelivery},
	{"POST", "/orgs/:org/deliveries/:delivery/replay", (*request).replayDelivery},
	{"GET", "/orgs/:org/replay", (*request).showReplay},
	{"POST", "/orgs/:org/replay", (*request).startReplay},
	{"GET", "/orgs/:org/replays/:replay", (*request).showReplayJob},
	{"GET", "/orgs/:org/replays/:replay/live", (*request).watchReplay},
	{"POST", "/orgs/:org/replays/:replay/cancel", (*request).cancelReplay},
}

func (rt *route) pattern() (method, path string) { return rt.method, rt.path }

// orgParam is the parameter of the org that a path is in.
const orgParam = "org"
