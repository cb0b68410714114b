// The client of the Team Data API. It needs only fetch and WebCrypto, which Node,
// Deno, Bun and browsers have. The types are generated from the API's description,
// and each method has the name of the operation there.

import { List, path, Transport } from "./transport.ts";
import type { CallOptions, Config, ListOptions } from "./transport.ts";
import type { AssistantInstructions, AuditLogEntry, Member, TestDelivery } from "./types.gen.ts";

export { List, NoAnswerError, TeamdataError, Transport } from "./transport.ts";
export type { CallOptions, Config, ErrorCode, ListOptions, Page } from "./transport.ts";
export type { AssistantInstructions, AuditLogEntry, Member, TestDelivery } from "./types.gen.ts";
export { NotVerifiedError, WebhookVerifier } from "./webhook.ts";
export type { VerifierOptions, WebhookBody, WebhookBytes, WebhookEvent, WebhookHeaders } from "./webhook.ts";

/**
 * The version of the API that this client is made for. It is sent with each request,
 * so a later version of the server gives the same answers.
 */
export const version = "2026-10-06";

/** Reads the data of one org from a server, with an API key of the org. */
export class Client {
  /** For operations that this client does not have yet. */
  readonly transport: Transport;

  constructor(config: Config) {
    this.transport = new Transport(config, "/api/v1", { "API-Version": version });
  }

  /** The org's members, oldest first. The key needs the scope `read`. */
  listMembers(options?: ListOptions): List<Member> {
    return new List(this.transport, "/members", options);
  }

  /** What was done in the org, oldest first. The key needs the scope `read`, and the org a plan that includes the audit log. */
  listAuditLog(options?: ListOptions): List<AuditLogEntry> {
    return new List(this.transport, "/audit-log", options);
  }

  /**
   * The org's instructions to its assistant, which are null if it has set none. The key
   * needs the scope `read`. With the `ETag` of an earlier answer in the header
   * `If-None-Match`, the error has the status 304 if they have not changed since.
   */
  getAssistantInstructions(options?: CallOptions): Promise<AssistantInstructions> {
    return this.transport.request("GET", "/assistant/instructions", options);
  }

  /**
   * Sends a test event to one of the org's webhook endpoints; the answer has the id of
   * the delivery, which the receiver sees as the event's `id`. The key needs the scope
   * `write`. A disabled endpoint is a `conflict`.
   */
  testWebhook(endpointId: string, options?: CallOptions): Promise<TestDelivery> {
    return this.transport.request("POST", path`/webhooks/${endpointId}/test`, options);
  }
}
