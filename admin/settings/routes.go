package settings

// route is one page, or one thing that a page's form does.
type route struct {
	method string
	path   string // below Path
	handle func(*visit) error
}

// routes are all there are. What is below /orgs/:org is for those who manage the
// org. GET never changes anything.
var routes = []route{
	{"GET", "", (*visit).home},
	{"GET", "/assets/:name", (*visit).sendAsset},

	{"GET", "/sign-in", (*visit).showSignIn},
	{"POST", "/sign-in", (*visit).signIn},
	{"POST", "/sign-out", (*visit).signOut},
	{"GET", "/forgot", (*visit).showForgot},
	{"POST", "/forgot", (*visit).sendForgotten},
	{"GET", "/link/:token", (*visit).showLink},
	{"POST", "/link/:token", (*visit).useLink},
	{"POST", "/passkeys/sign-in/begin", (*visit).beginPasskeySignIn},
	{"POST", "/passkeys/sign-in/finish", (*visit).signInByPasskey},
	{"POST", "/passkeys/add/begin", (*visit).beginPasskey},
	{"POST", "/passkeys/add/finish", (*visit).addPasskey},
	{"GET", "/account", (*visit).showAccount},
	{"GET", "/account/password", (*visit).showPassword},
	{"POST", "/account/password", (*visit).changePassword},
	{"GET", "/account/passkeys/:passkey/remove", (*visit).askRemovePasskey},
	{"POST", "/account/passkeys/:passkey/remove", (*visit).removePasskey},
	{"POST", "/account/sessions/:session/end", (*visit).endSession},
	{"POST", "/account/end-other-sessions", (*visit).endOtherSessions},
	{"GET", "/orgs", (*visit).showOrgs},

	{"GET", "/orgs/:org", (*visit).showOverview},
	{"GET", "/orgs/:org/keys", (*visit).listKeys},
	{"GET", "/orgs/:org/new-key", (*visit).newKey},
	{"POST", "/orgs/:org/new-key", (*visit).createKey},
	{"GET", "/orgs/:org/keys/:key", (*visit).showKey},
	{"GET", "/orgs/:org/keys/:key/revoke", (*visit).askToRevokeKey},
	{"POST", "/orgs/:org/keys/:key/revoke", (*visit).revokeKey},
	{"GET", "/orgs/:org/members", (*visit).listMembers},
	{"GET", "/orgs/:org/audit-log", (*visit).showAuditLog},
	{"GET", "/orgs/:org/audit-log/export", (*visit).exportAuditLog},
	{"GET", "/orgs/:org/instructions", (*visit).showInstructions},
	{"POST", "/orgs/:org/instructions", (*visit).saveInstructions},
	{"GET", "/orgs/:org/instructions/clear", (*visit).askToClearInstructions},
	{"POST", "/orgs/:org/instructions/clear", (*visit).clearInstructions},
	{"GET", "/orgs/:org/subscription", (*visit).showSubscription},

	{"GET", "/orgs/:org/webhooks", (*visit).listEndpoints},
	{"GET", "/orgs/:org/new-webhook", (*visit).newEndpoint},
	{"POST", "/orgs/:org/new-webhook", (*visit).createEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint", (*visit).showEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint/edit", (*visit).editEndpoint},
	{"POST", "/orgs/:org/webhooks/:endpoint/edit", (*visit).changeEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint/secret", (*visit).showSecret},
	{"GET", "/orgs/:org/webhooks/:endpoint/rotate", (*visit).askRotate},
	{"POST", "/orgs/:org/webhooks/:endpoint/rotate", (*visit).rotateSecret},
	{"POST", "/orgs/:org/webhooks/:endpoint/enable", (*visit).enableEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint/disable", (*visit).askDisable},
	{"POST", "/orgs/:org/webhooks/:endpoint/disable", (*visit).disableEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint/remove", (*visit).askRemove},
	{"POST", "/orgs/:org/webhooks/:endpoint/remove", (*visit).removeEndpoint},
	{"POST", "/orgs/:org/webhooks/:endpoint/test", (*visit).sendTest},
	{"GET", "/orgs/:org/webhooks/:endpoint/deliveries", (*visit).listDeliveries},
	{"GET", "/orgs/:org/webhooks/:endpoint/recover", (*visit).askRecover},
	{"POST", "/orgs/:org/webhooks/:endpoint/recover", (*visit).recoverEndpoint},
	{"GET", "/orgs/:org/webhooks/:endpoint/verify", (*visit).askVerify},
	{"POST", "/orgs/:org/webhooks/:endpoint/verify", (*visit).verifyRequest},
	{"GET", "/orgs/:org/deliveries/:delivery", (*visit).showDelivery},
	{"GET", "/orgs/:org/deliveries/:delivery/live", (*visit).watchDelivery},
	{"POST", "/orgs/:org/deliveries/:delivery/replay", (*visit).replayDelivery},
}

func (rt *route) place() (method, path string) { return rt.method, Path + rt.path }

// The parameters of the paths.
const (
	orgParam      = "org"
	endpointParam = "endpoint"
	deliveryParam = "delivery"
	keyParam      = "key"
	tokenParam    = "token"
	passkeyParam  = "passkey"
	sessionParam  = "session"
)

// home leads to where a person starts.
func (v *visit) home() error {
	if err := v.view(nil); err != nil {
		return err
	}
	if len(v.orgs) == 1 {
		return v.redirect(orgPath(v.orgs[0].ID))
	}
	return v.redirect(Path + "/orgs")
}
