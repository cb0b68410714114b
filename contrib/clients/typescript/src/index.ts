// The client of the Team Data API. It needs only fetch and WebCrypto, which Node,
// Deno, Bun and browsers have. It is generated from the API's description, and each
// method has the name of the operation there. consume pulls events where none can be sent.

export { Client, version } from "./client.gen.ts";
export { consume } from "./consume.ts";
export type { Consumer, Pulled } from "./consume.ts";
export { List, NoAnswerError, TeamdataError, Transport } from "./transport.ts";
export type { CallOptions, Config, ErrorCode, ListOptions, Page } from "./transport.ts";
export type { AssistantInstructions, AuditLogEntry, Member, TestDelivery } from "./types.gen.ts";
export type { Extension, LeasedDelivery, Nack, Pull, PulledDelivery } from "./pull.gen.ts";
export { NotVerifiedError, WebhookVerifier } from "./webhook.ts";
export type { VerifierOptions, WebhookBody, WebhookBytes, WebhookEvent, WebhookHeaders } from "./webhook.ts";
