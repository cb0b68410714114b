// Fills an org by the types that openapi-typescript makes of the admin API's description.
import createClient from "openapi-fetch";
import type { paths } from "./generated.js";

const client = createClient<paths>({
  baseUrl: `${process.env.SERVER}/admin/v1`,
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) {
    throw new Error("there is no answer");
  }
  return value;
}

const org = must(process.env.ORG);
const body = { name: "Generated", id: org, subscription: { plan: "team", product: null } };
const created = must((await client.POST("/orgs", { body })).data);
console.log(created.name, created.subscription.plan, created.subscription.status);

const path = { org };
const member = must((await client.POST("/orgs/{org}/members", { params: { path }, body: { userId: "usr_ada", role: "owner", email: null } })).data);
console.log(member.userId, member.apiKeys.active);

const key = must((await client.POST("/orgs/{org}/keys", { params: { path }, body: { scopes: ["read"], createdBy: "usr_ada" } })).data);
console.log(key.scopes[0], key.state, key.expiresAt === null);

const kind = must((await client.PUT("/event-types/{type}", { params: { path: { type: `${org}.opened` } }, body: { schema: { type: "object" } } })).data);
console.log(JSON.stringify(kind.schema), kind.builtIn);

const batch = must((await client.POST("/orgs/{org}/members/batch", { params: { path }, body: { members: [{ userId: "usr_bob", role: "member" }] } })).data);
console.log(batch.members.map((outcome) => outcome.result).join());

const sent = must((await client.POST("/orgs/{org}/events", { params: { path }, body: { type: `${org}.opened`, data: { door: 7 } } })).data);
console.log(sent.deliveries.length);

const refused = await client.POST("/orgs/{org}/members", { params: { path }, body: { userId: "usr_ada", role: "owner", email: "nowhere" } });
console.log(must(refused.error).error.code, must(refused.error).error.field, must(refused.error).error.docs);
