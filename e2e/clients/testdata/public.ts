// Reads an org's data by the types that openapi-typescript makes of the API's description.
import createClient from "openapi-fetch";
import type { paths, webhooks } from "./generated.js";

const client = createClient<paths>({
  baseUrl: `${process.env.SERVER}/api/v1`,
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) {
    throw new Error("there is no answer");
  }
  return value;
}

const members = must((await client.GET("/members", { params: { query: { limit: 2 } } })).data);
for (const member of members.data) {
  console.log(member.userId, member.role, new Date(member.createdAt).getUTCFullYear());
}
console.log(members.next, members.hasMore);

const entries = must((await client.GET("/audit-log")).data);
for (const entry of entries.data) {
  if (entry.actorId === null) {
    console.log("nobody:", entry.action, entry.targetId);
  }
}

const instructions = await client.GET("/assistant/instructions");
console.log(must(instructions.data).instructions);
const etag = must(instructions.response.headers.get("ETag") ?? undefined);
const again = await client.GET("/assistant/instructions", { params: { header: { "If-None-Match": etag } } });
console.log(again.response.status);

const refused = await client.POST("/webhooks/{id}/test", { params: { path: { id: "whe_hook" }, header: { "Idempotency-Key": "once" } } });
console.log(must(refused.error).error.code, must(refused.error).error.docs);

const event: webhooks["invoice.paid"]["post"]["requestBody"]["content"]["application/json"] = {
  type: "invoice.paid",
  timestamp: "2026-10-06T12:00:00Z",
  data: { invoiceId: "inv_7", paidBy: null },
};
console.log(event.type, event.data.invoiceId, event.data.paidBy === null);
