package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	teamdata "teamdata/client"
)

// ReadStatus returns the state of the server, and what is waiting.
func (c *Client) ReadStatus(ctx context.Context, options ...teamdata.Option) (Status, error) {
	return get[Status](ctx, c, options, "status")
}

// ReadBackup writes a consistent copy of the data file, and returns its size in
// bytes. It is tried once. One copy is made at a time; meanwhile the error is a
// CodeConflict.
func (c *Client) ReadBackup(ctx context.Context, to io.Writer, options ...teamdata.Option) (int64, error) {
	answer, err := c.Open(ctx, http.MethodGet, "/backup", options...)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(to, answer.Body)
	if size := answer.Header.Get("Teamdata-Backup-Size"); err == nil && size != fmt.Sprint(n) {
		err = fmt.Errorf("the backup was cut off after %d of %s bytes", n, size)
	}
	return n, err
}

// ListOperatorLog lists what was done to the server, oldest first: orgs, plans,
// event types and operator tokens that were created, changed or deleted.
func (c *Client) ListOperatorLog() teamdata.List[AuditLogEntry] {
	return list[AuditLogEntry](c, "audit-log")
}

// ListOrgs lists the orgs, by id.
func (c *Client) ListOrgs() teamdata.List[Org] { return list[Org](c, "orgs") }

// CreateOrg creates an org. A subscription that is left out is an active one of the
// plan selfHosted; so are fields of it that are left out.
func (c *Client) CreateOrg(ctx context.Context, org NewOrg, options ...teamdata.Option) (Org, error) {
	return post[Org](ctx, c, org, options, "orgs")
}

// ReadOrg returns an org.
func (c *Client) ReadOrg(ctx context.Context, org string, options ...teamdata.Option) (Org, error) {
	return get[Org](ctx, c, options, "orgs", org)
}

// UpdateOrg changes an org.
func (c *Client) UpdateOrg(ctx context.Context, org string, change OrgChange, options ...teamdata.Option) (Org, error) {
	return patch[Org](ctx, c, change, options, "orgs", org)
}

// DeleteOrg deletes an org with all that it owns. Its data is dropped in the
// background; until that is done, creating an org with its id is a CodeConflict.
func (c *Client) DeleteOrg(ctx context.Context, org string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "orgs", org)
}

// ReadSubscription returns an org's subscription.
func (c *Client) ReadSubscription(ctx context.Context, org string, options ...teamdata.Option) (Subscription, error) {
	return get[Subscription](ctx, c, options, "orgs", org, "subscription")
}

// UpdateSubscription changes an org's subscription; fields that are nil stay. It
// sends the event subscription.changed.
func (c *Client) UpdateSubscription(ctx context.Context, org string, change SubscriptionChange, options ...teamdata.Option) (Subscription, error) {
	return put[Subscription](ctx, c, change, options, "orgs", org, "subscription")
}

// ListMembers lists an org's members, oldest first.
func (c *Client) ListMembers(org string) teamdata.List[Member] {
	return list[Member](c, "orgs", org, "members")
}

// AddMember adds a member. It sends the event member.added.
func (c *Client) AddMember(ctx context.Context, org string, member NewMember, options ...teamdata.Option) (Member, error) {
	return post[Member](ctx, c, member, options, "orgs", org, "members")
}

// AddMembers adds 1 to 1,000 members, all or none, or with Upsert puts them; with
// DryRun it does nothing. It returns what became of each, in their order.
func (c *Client) AddMembers(ctx context.Context, org string, members NewMembers, options ...teamdata.Option) ([]MemberOutcome, error) {
	done, err := post[MemberOutcomes](ctx, c, members, options, "orgs", org, "members", "batch")
	return done.Members, err
}

// PutMember adds a user, or changes the member; a name and an address that are nil
// stay, an empty text clears. It sends the event member.added or member.changed. Where
// nothing changes, nothing is written and nothing sent.
func (c *Client) PutMember(ctx context.Context, org, userID string, values MemberValues, options ...teamdata.Option) (Member, error) {
	return put[Member](ctx, c, values, options, "orgs", org, "members", userID)
}

// ReadMember returns a member.
func (c *Client) ReadMember(ctx context.Context, org, userID string, options ...teamdata.Option) (Member, error) {
	return get[Member](ctx, c, options, "orgs", org, "members", userID)
}

// UpdateMember changes a member; fields that are nil stay, an empty text clears. It
// sends the event member.changed if anything changes.
func (c *Client) UpdateMember(ctx context.Context, org, userID string, change MemberChange, options ...teamdata.Option) (Member, error) {
	return patch[Member](ctx, c, change, options, "orgs", org, "members", userID)
}

// RemoveMember removes a member, and revokes the API keys that the member created.
// It sends the event member.removed. The last owner can't be removed: that is a
// CodeConflict.
func (c *Client) RemoveMember(ctx context.Context, org, userID string, options ...teamdata.Option) (RemovedMember, error) {
	return teamdata.Call[RemovedMember](ctx, c.Transport, http.MethodDelete, path("orgs", org, "members", userID), nil, options)
}

// CreatedLink is a sign-in link, or where it was mailed to.
type CreatedLink struct {
	SignInLink        // empty if the link was mailed
	MailedTo   string `json:"mailedTo"` // empty if it was not
}

// CreateSignInLink creates a link for an owner, administrator or viewer, who
// chooses a password with it; for others the error is a CodeConflict. URL and Token
// are given this once.
func (c *Client) CreateSignInLink(ctx context.Context, org, userID string, link NewSignInLink, options ...teamdata.Option) (CreatedLink, error) {
	return post[CreatedLink](ctx, c, link, options, "orgs", org, "members", userID, "signin-link")
}

// CreatePortalLink creates a link that signs a person in to the settings page of the
// org, without a password and without a membership. URL and Token are given this once.
func (c *Client) CreatePortalLink(ctx context.Context, org string, link NewPortalLink, options ...teamdata.Option) (PortalLink, error) {
	return post[PortalLink](ctx, c, link, options, "orgs", org, "portal-link")
}

// ListPortalSessions lists who is signed in to the settings page of the org through a
// portal link, oldest first.
func (c *Client) ListPortalSessions(org string) teamdata.List[PortalSession] {
	return list[PortalSession](c, "orgs", org, "portal-sessions")
}

// EndPortalSession signs the person of a portal session out.
func (c *Client) EndPortalSession(ctx context.Context, org, session string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "orgs", org, "portal-sessions", session)
}

// ListAuditLog lists an org's audit log, oldest first.
func (c *Client) ListAuditLog(org string) teamdata.List[AuditLogEntry] {
	return list[AuditLogEntry](c, "orgs", org, "audit-log")
}

// AddAuditEntry adds an audit log entry. Without an ActorID it has that of [Actor].
func (c *Client) AddAuditEntry(ctx context.Context, org string, entry NewAuditLogEntry, options ...teamdata.Option) (AuditLogEntry, error) {
	return post[AuditLogEntry](ctx, c, entry, options, "orgs", org, "audit-log")
}

// AddAuditEntries adds 1 to 1,000 entries, all or none, and returns their ids in
// their order.
func (c *Client) AddAuditEntries(ctx context.Context, org string, entries []NewAuditLogEntry, options ...teamdata.Option) ([]string, error) {
	added, err := post[Ids](ctx, c, NewAuditLogEntries{Entries: entries}, options, "orgs", org, "audit-log", "batch")
	return added.Ids, err
}

// ReadInstructions returns the instructions to the assistant, and their ETag for
// [IfMatch].
func (c *Client) ReadInstructions(ctx context.Context, org string, options ...teamdata.Option) (instructions Instructions, etag string, err error) {
	var header http.Header
	instructions, err = get[Instructions](ctx, c, append(options, teamdata.ResponseHeader(&header)), "orgs", org, "instructions")
	return instructions, header.Get("ETag"), err
}

// PutInstructions sets the instructions; nil clears them. It sends the event
// assistant.instructionsChanged.
func (c *Client) PutInstructions(ctx context.Context, org string, change InstructionsChange, options ...teamdata.Option) (Instructions, error) {
	return put[Instructions](ctx, c, change, options, "orgs", org, "instructions")
}

// ClearInstructions clears the instructions. It sends the event
// assistant.instructionsChanged.
func (c *Client) ClearInstructions(ctx context.Context, org string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "orgs", org, "instructions")
}

// ListKeys lists an org's API keys, by id.
func (c *Client) ListKeys(org string) teamdata.List[APIKey] {
	return list[APIKey](c, "orgs", org, "keys")
}

// CreateKey creates an API key. The answer has Key, <id>.<secret>, this once.
func (c *Client) CreateKey(ctx context.Context, org string, key NewAPIKey, options ...teamdata.Option) (APIKey, error) {
	return post[APIKey](ctx, c, key, options, "orgs", org, "keys")
}

// ReadKey returns an API key.
func (c *Client) ReadKey(ctx context.Context, org, key string, options ...teamdata.Option) (APIKey, error) {
	return get[APIKey](ctx, c, options, "orgs", org, "keys", key)
}

// RevokeKey revokes an API key.
func (c *Client) RevokeKey(ctx context.Context, org, key string, options ...teamdata.Option) (APIKey, error) {
	return post[APIKey](ctx, c, nil, options, "orgs", org, "keys", key, "revoke")
}

// ListEndpoints lists an org's webhook endpoints, by id.
func (c *Client) ListEndpoints(org string) teamdata.List[Endpoint] {
	return list[Endpoint](c, "orgs", org, "endpoints")
}

// CreateEndpoint creates a webhook endpoint. The answer has its Secret.
func (c *Client) CreateEndpoint(ctx context.Context, org string, endpoint NewEndpoint, options ...teamdata.Option) (Endpoint, error) {
	return post[Endpoint](ctx, c, endpoint, options, "orgs", org, "endpoints")
}

// ReadEndpoint returns a webhook endpoint.
func (c *Client) ReadEndpoint(ctx context.Context, org, endpoint string, options ...teamdata.Option) (Endpoint, error) {
	return get[Endpoint](ctx, c, options, "orgs", org, "endpoints", endpoint)
}

// UpdateEndpoint changes a webhook endpoint; fields that are nil stay.
func (c *Client) UpdateEndpoint(ctx context.Context, org, endpoint string, change EndpointChange, options ...teamdata.Option) (Endpoint, error) {
	return patch[Endpoint](ctx, c, change, options, "orgs", org, "endpoints", endpoint)
}

// DeleteEndpoint deletes a webhook endpoint and its deliveries.
func (c *Client) DeleteEndpoint(ctx context.Context, org, endpoint string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "orgs", org, "endpoints", endpoint)
}

// ReadSecret returns the secrets that sign an endpoint's deliveries now. It makes
// the audit entry endpoint.secretShown.
func (c *Client) ReadSecret(ctx context.Context, org, endpoint string, options ...teamdata.Option) (Secret, error) {
	return get[Secret](ctx, c, options, "orgs", org, "endpoints", endpoint, "secret")
}

// EnableEndpoint enables an endpoint. Held deliveries are sent, in order.
func (c *Client) EnableEndpoint(ctx context.Context, org, endpoint string, options ...teamdata.Option) (Endpoint, error) {
	return post[Endpoint](ctx, c, nil, options, "orgs", org, "endpoints", endpoint, "enable")
}

// DisableEndpoint disables an endpoint. Its events are held.
func (c *Client) DisableEndpoint(ctx context.Context, org, endpoint string, options ...teamdata.Option) (Endpoint, error) {
	return post[Endpoint](ctx, c, nil, options, "orgs", org, "endpoints", endpoint, "disable")
}

// RotateSecret gives an endpoint a new Secret, which the answer has. The old one
// also signs for OverlapSeconds.
func (c *Client) RotateSecret(ctx context.Context, org, endpoint string, rotation Rotation, options ...teamdata.Option) (Endpoint, error) {
	return post[Endpoint](ctx, c, rotation, options, "orgs", org, "endpoints", endpoint, "rotate")
}

// TestEndpoint sends a test event, and returns the id of its delivery.
func (c *Client) TestEndpoint(ctx context.Context, org, endpoint string, test Test, options ...teamdata.Option) (TestDelivery, error) {
	return post[TestDelivery](ctx, c, test, options, "orgs", org, "endpoints", endpoint, "test")
}

// RecoverEndpoint makes all deliveries due that failed since a time, and returns
// their number.
func (c *Client) RecoverEndpoint(ctx context.Context, org, endpoint string, since Recovery, options ...teamdata.Option) (Recovered, error) {
	return post[Recovered](ctx, c, since, options, "orgs", org, "endpoints", endpoint, "recover")
}

// ListDeliveries lists an org's deliveries, newest first by their last attempt. An
// empty filter lists all. If few match, a page may be short or empty while more follow.
func (c *Client) ListDeliveries(org string, filter DeliveryFilter) teamdata.List[Delivery] {
	l := list[Delivery](c, "orgs", org, "deliveries")
	for name, value := range map[string]*string{
		"endpoint": filter.Endpoint, "state": filter.State, "type": filter.Type, "status": filter.Status, "q": filter.Q,
		"since": queryTime(filter.Since), "until": queryTime(filter.Until),
	} {
		if value != nil {
			l = l.With(name, *value)
		}
	}
	return l
}

func queryTime(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return new(t.Format(time.RFC3339Nano))
}

// ReadDelivery returns a delivery with its event and its attempts.
func (c *Client) ReadDelivery(ctx context.Context, org, delivery string, options ...teamdata.Option) (DeliveryDetail, error) {
	return get[DeliveryDetail](ctx, c, options, "orgs", org, "deliveries", delivery)
}

// ReplayDelivery makes a delivery due now, with the same id.
func (c *Client) ReplayDelivery(ctx context.Context, org, delivery string, options ...teamdata.Option) (Delivery, error) {
	return post[Delivery](ctx, c, nil, options, "orgs", org, "deliveries", delivery, "replay")
}

// ListReplays lists an org's replays, latest first.
func (c *Client) ListReplays(org string) teamdata.List[Replay] {
	return list[Replay](c, "orgs", org, "replays")
}

// CreatedReplay is a replay, or with DryRun what one would do.
type CreatedReplay struct {
	Replay                       // with DryRun only Total and More
	Endpoints []ReplayedEndpoint `json:"endpoints"` // with DryRun
}

// CreateReplay replays the deliveries of a filter, or those that are named. It goes on
// in the background; see how far it is with ReadReplay.
func (c *Client) CreateReplay(ctx context.Context, org string, replay NewReplay, options ...teamdata.Option) (CreatedReplay, error) {
	return post[CreatedReplay](ctx, c, replay, options, "orgs", org, "replays")
}

// ReadReplay returns how far a replay is.
func (c *Client) ReadReplay(ctx context.Context, org, replay string, options ...teamdata.Option) (Replay, error) {
	return get[Replay](ctx, c, options, "orgs", org, "replays", replay)
}

// CancelReplay ends a replay; deliveries that it has made due stay so.
func (c *Client) CancelReplay(ctx context.Context, org, replay string, options ...teamdata.Option) (Replay, error) {
	return post[Replay](ctx, c, nil, options, "orgs", org, "replays", replay, "cancel")
}

// AddFile adds a file, whose bytes are kept elsewhere. It sends the event
// file.uploaded.
func (c *Client) AddFile(ctx context.Context, org string, file NewFile, options ...teamdata.Option) (File, error) {
	return post[File](ctx, c, file, options, "orgs", org, "files")
}

// SendEvent sends an event of a registered type, or of a built-in one other than
// webhook.test, and returns the ids of its deliveries.
func (c *Client) SendEvent(ctx context.Context, org string, event NewEvent, options ...teamdata.Option) ([]string, error) {
	sent, err := post[Deliveries](ctx, c, event, options, "orgs", org, "events")
	return sent.Deliveries, err
}

// SendEvents sends 1 to 1,000 events, all or none, and returns the ids of the
// deliveries of each, in their order.
func (c *Client) SendEvents(ctx context.Context, org string, events []NewEvent, options ...teamdata.Option) (deliveries [][]string, err error) {
	sent, err := post[SentEvents](ctx, c, NewEvents{Events: events}, options, "orgs", org, "events", "batch")
	for _, event := range sent.Events {
		deliveries = append(deliveries, event.Deliveries)
	}
	return deliveries, err
}

// ListNodes lists the servers that share a database, in order of name.
func (c *Client) ListNodes() teamdata.List[Node] { return list[Node](c, "nodes") }

// ListPlans lists the plans, the built-in ones first.
func (c *Client) ListPlans() teamdata.List[Plan] { return list[Plan](c, "plans") }

// PutPlan creates or changes a plan.
func (c *Client) PutPlan(ctx context.Context, name string, plan PlanChange, options ...teamdata.Option) (Plan, error) {
	return put[Plan](ctx, c, plan, options, "plans", name)
}

// DeletePlan deletes a plan. While an org has it, that is a CodeConflict.
func (c *Client) DeletePlan(ctx context.Context, name string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "plans", name)
}

// ListEventTypes lists the event types, the built-in ones first.
func (c *Client) ListEventTypes() teamdata.List[EventType] { return list[EventType](c, "event-types") }

// PutEventType creates or changes an event type.
func (c *Client) PutEventType(ctx context.Context, name string, change EventTypeChange, options ...teamdata.Option) (EventType, error) {
	return put[EventType](ctx, c, change, options, "event-types", name)
}

// DeleteEventType deletes an event type. While an endpoint selects it, by its name or
// as the last of a group, that is a CodeConflict.
func (c *Client) DeleteEventType(ctx context.Context, name string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "event-types", name)
}

// ListOperatorTokens lists the operator tokens, by id.
func (c *Client) ListOperatorTokens() teamdata.List[OperatorToken] {
	return list[OperatorToken](c, "operator-tokens")
}

// CreateOperatorToken creates an operator token. The answer has Token,
// <id>.<secret>, this once.
func (c *Client) CreateOperatorToken(ctx context.Context, token NewOperatorToken, options ...teamdata.Option) (OperatorToken, error) {
	return post[OperatorToken](ctx, c, token, options, "operator-tokens")
}

// RevokeOperatorToken revokes an operator token.
func (c *Client) RevokeOperatorToken(ctx context.Context, token string, options ...teamdata.Option) error {
	return remove(ctx, c, options, "operator-tokens", token)
}

// ReadClock returns what the clock of a server for tests reads. It and the two below
// are a CodeNotFound unless the server was started with --test-clock.
func (c *Client) ReadClock(ctx context.Context, options ...teamdata.Option) (Clock, error) {
	return get[Clock](ctx, c, options, "clock")
}

// AdvanceClock moves the clock of a server for tests forward, by whole seconds. It
// returns once all that became due was sent.
func (c *Client) AdvanceClock(ctx context.Context, by time.Duration, options ...teamdata.Option) (Clock, error) {
	return post[Clock](ctx, c, Advance{AdvanceSeconds: new(int(by / time.Second))}, options, "clock")
}

// ResetData puts the data of a server for tests back to what it was at the start. The
// clock stays where it is.
func (c *Client) ResetData(ctx context.Context, options ...teamdata.Option) (Clock, error) {
	return post[Clock](ctx, c, nil, options, "reset")
}
