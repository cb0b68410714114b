// The client of the admin API, by which the operator and the team's own software add
// to and change the data of the Team Data API. The client is generated from the API's
// description, and each method has the name of the operation there; its errors are
// those of docs/admin-api.md.
//
// A secret that is shown once is not repeated: if the answer to a creation was lost on
// its way and the client asked again, the secret is null. Revoke such a key or token,
// and create another.

export { AdminClient } from "./admin-client.gen.ts";
export type * from "./admin.gen.ts";
export type { ChangeOptions, InstructionsOptions } from "./base.ts";
export { List, NoAnswerError, TeamdataError, Transport } from "./transport.ts";
export type { CallOptions, Config, ErrorCode, ListOptions, Page } from "./transport.ts";
