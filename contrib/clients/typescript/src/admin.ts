// The client of the admin API, by which the operator and the team's own software add
// to and change what the Team Data API shows. The types are generated from the API's
// description, and each method has the name of the operation there; its errors are
// those of docs/admin-api.md.
//
// A secret that is shown once is not repeated: if the answer to a creation was lost on
// its way and the client asked again, the secret is null. Revoke such a key or token,
// and create another.

import { List, path, Transport } from "./transport.ts";
import type { CallOptions, Config, ListOptions } from "./transport.ts";
import type * as types from "./admin.gen.ts";

export type * from "./admin.gen.ts";
export { List, NoAnswerError, TeamdataError, Transport } from "./transport.ts";
export type { CallOptions, Config, ErrorCode, ListOptions, Page } from "./transport.ts";

/** Options of a single change. */
export interface ChangeOptions extends CallOptions {
  /** Who did it, for the audit entry, in 1 to 200 characters. Without it the entry has no actor. */
  actor?: string;
}

/** Options of a change of the instructions. */
export interface InstructionsOptions extends ChangeOptions {
  /** The `etag` that was read. If the instructions were changed meanwhile, the error is a `preconditionFailed`. */
  ifMatch?: string;
}

/** Changes the data of a server, by an operator token. */
export class AdminClient {
  /** For operations that this client does not have yet. */
  readonly transport: Transport;

  constructor(config: Config) {
    this.transport = new Transport(config, "/admin/v1");
  }

  /** The state of the server, and what is waiting. */
  readStatus(options?: CallOptions): Promise<types.Status> {
    return this.transport.request("GET", "/status", options);
  }

  /**
   * A consistent copy of the data file, as the body of the answer; `Teamdata-Backup-Size`
   * is its size. It is tried once. One copy is made at a time; meanwhile there is a `conflict`.
   */
  readBackup(options?: CallOptions): Promise<Response> {
    return this.transport.open("GET", "/backup", options);
  }

  /** What was done to the server, oldest first: orgs, plans, event types and operator tokens that were created, changed or deleted. */
  listOperatorLog(options?: ListOptions): List<types.AuditLogEntry> {
    return new List(this.transport, "/audit-log", options);
  }

  /** The orgs, by id. */
  listOrgs(options?: ListOptions): List<types.Org> {
    return new List(this.transport, "/orgs", options);
  }

  /** Creates an org. A subscription that is left out is an active one of the plan `selfHosted`; so are fields of it that are left out. */
  createOrg(org: types.NewOrg, options?: ChangeOptions): Promise<types.Org> {
    return this.#change("POST", "/orgs", org, options);
  }

  /** An org. */
  readOrg(org: string, options?: CallOptions): Promise<types.Org> {
    return this.transport.request("GET", path`/orgs/${org}`, options);
  }

  /** Changes an org. */
  updateOrg(org: string, change: types.OrgChange, options?: ChangeOptions): Promise<types.Org> {
    return this.#change("PATCH", path`/orgs/${org}`, change, options);
  }

  /**
   * Deletes an org with all that it owns. Its data is dropped in the background; until
   * that is done, creating an org with its id is a `conflict`.
   */
  deleteOrg(org: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/orgs/${org}`, undefined, options);
  }

  /** An org's subscription. */
  readSubscription(org: string, options?: CallOptions): Promise<types.Subscription> {
    return this.transport.request("GET", path`/orgs/${org}/subscription`, options);
  }

  /** Changes an org's subscription; fields that are left out stay. Sends the event `subscription.changed`. */
  updateSubscription(org: string, change: types.SubscriptionChange, options?: ChangeOptions): Promise<types.Subscription> {
    return this.#change("PUT", path`/orgs/${org}/subscription`, change, options);
  }

  /** An org's members, oldest first. */
  listMembers(org: string, options?: ListOptions): List<types.Member> {
    return new List(this.transport, path`/orgs/${org}/members`, options);
  }

  /** Adds a member. Sends the event `member.added`. */
  addMember(org: string, member: types.NewMember, options?: ChangeOptions): Promise<types.Member> {
    return this.#change("POST", path`/orgs/${org}/members`, member, options);
  }

  /**
   * Adds 1 to 1,000 members, all or none, or with `upsert` puts them; with `dryRun` it
   * does nothing. The answer has what became of each, in their order.
   */
  async addMembers(org: string, members: types.NewMembers, options?: ChangeOptions): Promise<types.MemberOutcome[]> {
    const done = await this.#change<types.MemberOutcomes>("POST", path`/orgs/${org}/members/batch`, members, options);
    return done.members;
  }

  /**
   * Adds a user, or changes the member; a name and an address that are left out stay, null
   * clears. Sends the event `member.added`, or `member.changed` if anything changes.
   */
  putMember(org: string, userId: string, values: types.MemberValues, options?: ChangeOptions): Promise<types.Member> {
    return this.#change("PUT", path`/orgs/${org}/members/${userId}`, values, options);
  }

  /** A member. */
  readMember(org: string, userId: string, options?: CallOptions): Promise<types.Member> {
    return this.transport.request("GET", path`/orgs/${org}/members/${userId}`, options);
  }

  /**
   * Changes a member; fields that are left out stay, null clears. Sends the event
   * `member.changed` if anything changes.
   */
  updateMember(org: string, userId: string, change: types.MemberChange, options?: ChangeOptions): Promise<types.Member> {
    return this.#change("PATCH", path`/orgs/${org}/members/${userId}`, change, options);
  }

  /**
   * Removes a member, and revokes the API keys that the member created. Sends the event
   * `member.removed`. The last owner can't be removed: that is a `conflict`.
   */
  removeMember(org: string, userId: string, options?: ChangeOptions): Promise<types.RemovedMember> {
    return this.#change("DELETE", path`/orgs/${org}/members/${userId}`, undefined, options);
  }

  /**
   * Creates a link for an owner, administrator or viewer, who chooses a password with
   * it; for others that is a `conflict`. `url` and `token` are given this once; with
   * `mail` the link is sent instead.
   */
  createSignInLink(org: string, userId: string, link: types.NewSignInLink, options?: ChangeOptions): Promise<types.SignInLink | types.MailedLink> {
    return this.#change("POST", path`/orgs/${org}/members/${userId}/signin-link`, link, options);
  }

  /**
   * Creates a link that signs a person in to the settings page of the org, without a
   * password and without a membership. `url` and `token` are given this once.
   */
  createPortalLink(org: string, link: types.NewPortalLink, options?: ChangeOptions): Promise<types.PortalLink> {
    return this.#change("POST", path`/orgs/${org}/portal-link`, link, options);
  }

  /** Who is signed in to the settings page of the org through a portal link, oldest first. */
  listPortalSessions(org: string, options?: ListOptions): List<types.PortalSession> {
    return new List(this.transport, path`/orgs/${org}/portal-sessions`, options);
  }

  /** Signs the person of a portal session out. */
  endPortalSession(org: string, session: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/orgs/${org}/portal-sessions/${session}`, undefined, options);
  }

  /** An org's audit log, oldest first. */
  listAuditLog(org: string, options?: ListOptions): List<types.AuditLogEntry> {
    return new List(this.transport, path`/orgs/${org}/audit-log`, options);
  }

  /** Adds an audit log entry. Without an `actorId` it has that of `actor`. */
  addAuditEntry(org: string, entry: types.NewAuditLogEntry, options?: ChangeOptions): Promise<types.AuditLogEntry> {
    return this.#change("POST", path`/orgs/${org}/audit-log`, entry, options);
  }

  /** Adds 1 to 1,000 entries, all or none; the answer has their ids in their order. */
  async addAuditEntries(org: string, entries: types.NewAuditLogEntry[], options?: ChangeOptions): Promise<string[]> {
    const added = await this.#change<types.Ids>("POST", path`/orgs/${org}/audit-log/batch`, { entries }, options);
    return added.ids;
  }

  /** The instructions to the assistant, and their `etag` for `ifMatch`. */
  async readInstructions(org: string, options: CallOptions = {}): Promise<types.Instructions & { etag: string }> {
    let etag = "";
    const onResponse = (response: Response) => {
      etag = response.headers.get("ETag") ?? "";
      options.onResponse?.(response);
    };
    const instructions = await this.transport.request<types.Instructions>("GET", path`/orgs/${org}/instructions`, { ...options, onResponse });
    return { ...instructions, etag };
  }

  /** Sets the instructions; null clears them. Sends the event `assistant.instructionsChanged`. */
  putInstructions(org: string, change: types.InstructionsChange, options?: InstructionsOptions): Promise<types.Instructions> {
    return this.#change("PUT", path`/orgs/${org}/instructions`, change, options);
  }

  /** Clears the instructions. Sends the event `assistant.instructionsChanged`. */
  clearInstructions(org: string, options?: InstructionsOptions): Promise<void> {
    return this.#change("DELETE", path`/orgs/${org}/instructions`, undefined, options);
  }

  /** An org's API keys, by id. */
  listKeys(org: string, options?: ListOptions): List<types.APIKey> {
    return new List(this.transport, path`/orgs/${org}/keys`, options);
  }

  /** Creates an API key. The answer has `key`, `<id>.<secret>`, this once. */
  createKey(org: string, key: types.NewAPIKey, options?: ChangeOptions): Promise<types.APIKey> {
    return this.#change("POST", path`/orgs/${org}/keys`, key, options);
  }

  /** An API key. */
  readKey(org: string, key: string, options?: CallOptions): Promise<types.APIKey> {
    return this.transport.request("GET", path`/orgs/${org}/keys/${key}`, options);
  }

  /** Revokes an API key. */
  revokeKey(org: string, key: string, options?: ChangeOptions): Promise<types.APIKey> {
    return this.#change("POST", path`/orgs/${org}/keys/${key}/revoke`, undefined, options);
  }

  /** An org's webhook endpoints, by id. */
  listEndpoints(org: string, options?: ListOptions): List<types.Endpoint> {
    return new List(this.transport, path`/orgs/${org}/endpoints`, options);
  }

  /** Creates a webhook endpoint. The answer has its `secret`. */
  createEndpoint(org: string, endpoint: types.NewEndpoint, options?: ChangeOptions): Promise<types.Endpoint> {
    return this.#change("POST", path`/orgs/${org}/endpoints`, endpoint, options);
  }

  /** A webhook endpoint. */
  readEndpoint(org: string, endpoint: string, options?: CallOptions): Promise<types.Endpoint> {
    return this.transport.request("GET", path`/orgs/${org}/endpoints/${endpoint}`, options);
  }

  /** Changes a webhook endpoint; fields that are left out stay. */
  updateEndpoint(org: string, endpoint: string, change: types.EndpointChange, options?: ChangeOptions): Promise<types.Endpoint> {
    return this.#change("PATCH", path`/orgs/${org}/endpoints/${endpoint}`, change, options);
  }

  /** Deletes a webhook endpoint and its deliveries. */
  deleteEndpoint(org: string, endpoint: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/orgs/${org}/endpoints/${endpoint}`, undefined, options);
  }

  /** The secrets that sign an endpoint's deliveries now. Makes the audit entry `endpoint.secretShown`. */
  readSecret(org: string, endpoint: string, options?: ChangeOptions): Promise<types.Secret> {
    return this.#change("GET", path`/orgs/${org}/endpoints/${endpoint}/secret`, undefined, options);
  }

  /** Enables an endpoint. Held deliveries are sent, in order. */
  enableEndpoint(org: string, endpoint: string, options?: ChangeOptions): Promise<types.Endpoint> {
    return this.#change("POST", path`/orgs/${org}/endpoints/${endpoint}/enable`, undefined, options);
  }

  /** Disables an endpoint. Its events are held. */
  disableEndpoint(org: string, endpoint: string, options?: ChangeOptions): Promise<types.Endpoint> {
    return this.#change("POST", path`/orgs/${org}/endpoints/${endpoint}/disable`, undefined, options);
  }

  /** Gives an endpoint a new `secret`, which the answer has. The old one also signs for `overlapSeconds`. */
  rotateSecret(org: string, endpoint: string, rotation: types.Rotation, options?: ChangeOptions): Promise<types.Endpoint> {
    return this.#change("POST", path`/orgs/${org}/endpoints/${endpoint}/rotate`, rotation, options);
  }

  /** Sends a test event; the answer has the id of its delivery. */
  testEndpoint(org: string, endpoint: string, test: types.Test, options?: ChangeOptions): Promise<types.TestDelivery> {
    return this.#change("POST", path`/orgs/${org}/endpoints/${endpoint}/test`, test, options);
  }

  /** Makes all deliveries due that failed since a time; the answer has their number. */
  recoverEndpoint(org: string, endpoint: string, since: types.Recovery, options?: ChangeOptions): Promise<types.Recovered> {
    return this.#change("POST", path`/orgs/${org}/endpoints/${endpoint}/recover`, since, options);
  }

  /**
   * An org's deliveries, newest first by their last attempt; fields of a filter combine.
   * If few match, a page may be short or empty while more follow.
   */
  listDeliveries(org: string, options: ListOptions & NonNullable<types.DeliveryFilter> = {}): List<types.Delivery> {
    const { endpoint, state, type, status, since, until, q, ...rest } = options;
    const filter = Object.entries({ endpoint, state, type, status, since, until, q }).filter(([, value]) => value != null);
    return new List(this.transport, path`/orgs/${org}/deliveries`, rest, Object.fromEntries(filter) as Record<string, string>);
  }

  /** A delivery with its event and its attempts. */
  readDelivery(org: string, delivery: string, options?: CallOptions): Promise<types.DeliveryDetail> {
    return this.transport.request("GET", path`/orgs/${org}/deliveries/${delivery}`, options);
  }

  /** Makes a delivery due now, with the same id. */
  replayDelivery(org: string, delivery: string, options?: ChangeOptions): Promise<types.Delivery> {
    return this.#change("POST", path`/orgs/${org}/deliveries/${delivery}/replay`, undefined, options);
  }

  /** An org's replays, latest first. */
  listReplays(org: string, options?: ListOptions): List<types.Replay> {
    return new List(this.transport, path`/orgs/${org}/replays`, options);
  }

  /**
   * Replays the deliveries of a filter, or those that are named. It goes on in the
   * background; see how far it is with `readReplay`. With `dryRun` they are only counted.
   */
  createReplay(org: string, replay: types.NewReplay, options?: ChangeOptions): Promise<types.Replay | types.ReplayPreview> {
    return this.#change("POST", path`/orgs/${org}/replays`, replay, options);
  }

  /** How far a replay is. */
  readReplay(org: string, replay: string, options?: CallOptions): Promise<types.Replay> {
    return this.transport.request("GET", path`/orgs/${org}/replays/${replay}`, options);
  }

  /** Ends a replay; deliveries that it has made due stay so. */
  cancelReplay(org: string, replay: string, options?: ChangeOptions): Promise<types.Replay> {
    return this.#change("POST", path`/orgs/${org}/replays/${replay}/cancel`, undefined, options);
  }

  /** Adds a file, whose bytes are kept elsewhere. Sends the event `file.uploaded`. */
  addFile(org: string, file: types.NewFile, options?: ChangeOptions): Promise<types.File> {
    return this.#change("POST", path`/orgs/${org}/files`, file, options);
  }

  /** Sends an event of a registered type, or of a built-in one other than `webhook.test`; the answer has the ids of its deliveries. */
  async sendEvent(org: string, event: types.NewEvent, options?: ChangeOptions): Promise<string[]> {
    const sent = await this.#change<types.Deliveries>("POST", path`/orgs/${org}/events`, event, options);
    return sent.deliveries;
  }

  /** Sends 1 to 1,000 events, all or none; the answer has the ids of the deliveries of each, in their order. */
  async sendEvents(org: string, events: types.NewEvent[], options?: ChangeOptions): Promise<string[][]> {
    const sent = await this.#change<types.SentEvents>("POST", path`/orgs/${org}/events/batch`, { events }, options);
    return sent.events.map((event) => event.deliveries);
  }

  /** The servers that share a database, in order of name. */
  listNodes(options?: ListOptions): List<types.Node> {
    return new List(this.transport, "/nodes", options);
  }

  /** The plans, the built-in ones first. */
  listPlans(options?: ListOptions): List<types.Plan> {
    return new List(this.transport, "/plans", options);
  }

  /** Creates or changes a plan. */
  putPlan(name: string, plan: types.PlanChange, options?: ChangeOptions): Promise<types.Plan> {
    return this.#change("PUT", path`/plans/${name}`, plan, options);
  }

  /** Deletes a plan. While an org has it, that is a `conflict`. */
  deletePlan(name: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/plans/${name}`, undefined, options);
  }

  /** The event types, the built-in ones first. */
  listEventTypes(options?: ListOptions): List<types.EventType> {
    return new List(this.transport, "/event-types", options);
  }

  /** Creates or changes an event type. */
  putEventType(name: string, change: types.EventTypeChange, options?: ChangeOptions): Promise<types.EventType> {
    return this.#change("PUT", path`/event-types/${name}`, change, options);
  }

  /**
   * Deletes an event type. While an endpoint selects it, by its name or as the last of a
   * group, that is a `conflict`.
   */
  deleteEventType(name: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/event-types/${name}`, undefined, options);
  }

  /** The operator tokens, by id. */
  listOperatorTokens(options?: ListOptions): List<types.OperatorToken> {
    return new List(this.transport, "/operator-tokens", options);
  }

  /** Creates an operator token. The answer has `token`, `<id>.<secret>`, this once. */
  createOperatorToken(token: types.NewOperatorToken, options?: ChangeOptions): Promise<types.OperatorToken> {
    return this.#change("POST", "/operator-tokens", token, options);
  }

  /** Revokes an operator token. */
  revokeOperatorToken(token: string, options?: ChangeOptions): Promise<void> {
    return this.#change("DELETE", path`/operator-tokens/${token}`, undefined, options);
  }

  /**
   * What the clock of a server for tests reads. This and the two below are a `notFound`
   * unless the server was started with `--test-clock`.
   */
  readClock(options?: CallOptions): Promise<types.Clock> {
    return this.transport.request("GET", "/clock", options);
  }

  /** Moves the clock of a server for tests forward; the answer comes once all that became due was sent. */
  advanceClock(advance: types.Advance, options?: ChangeOptions): Promise<types.Clock> {
    return this.#change("POST", "/clock", advance, options);
  }

  /** Puts the data of a server for tests back to what it was at the start. The clock stays where it is. */
  resetData(options?: ChangeOptions): Promise<types.Clock> {
    return this.#change("POST", "/reset", undefined, options);
  }

  #change<T>(method: string, path: string, body: unknown, options: InstructionsOptions = {}): Promise<T> {
    const { actor, ifMatch, ...call } = options;
    const headers = { ...(actor && { "Teamdata-Actor": actor }), ...(ifMatch && { "If-Match": ifMatch }), ...call.headers };
    return this.transport.request(method, path, { ...call, headers, body });
  }
}
