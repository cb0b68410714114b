// Reads an org's lists to their ends and sends a test event, by a client whose
// types are generated from the API's description:
//
//	npm ci && npm run build
//	NODE_EXTRA_CA_CERTS=teamdata.db.ca.pem READ_KEY=… WRITE_KEY=… node dist/tour.js https://127.0.0.1:8443 whe_…
import createClient from "openapi-fetch";
import type { components, paths } from "./teamdata.js";

const [server, endpoint] = process.argv.slice(2);
const { READ_KEY, WRITE_KEY } = process.env;
if (!server || !endpoint || !READ_KEY || !WRITE_KEY) {
  throw new Error("give the server's URL and the id of an endpoint, and keys in READ_KEY and WRITE_KEY");
}

function client(key: string) {
  return createClient<paths>({ baseUrl: `${server}/api/v1`, headers: { Authorization: `Bearer ${key}` } });
}

type Page<Item> = { data: Item[]; next: string | null; hasMore: boolean };
type Failure = components["schemas"]["Error"];

// all follows a list to its end.
async function all<Item>(read: (query: { limit: number; after?: string }) => Promise<{ data?: Page<Item>; error?: Failure }>) {
  const items: Item[] = [];
  for (let query: { limit: number; after?: string } = { limit: 2 }; ; ) {
    const page = must(await read(query));
    items.push(...page.data);
    if (!page.hasMore || page.next === null) {
      return items;
    }
    query = { limit: 2, after: page.next };
  }
}

function must<Data>(answer: { data?: Data; error?: Failure }): Data {
  if (answer.data === undefined) {
    throw new Error(`${answer.error?.error.code}: ${answer.error?.error.message}`);
  }
  return answer.data;
}

const reader = client(READ_KEY);
const writer = client(WRITE_KEY);

const members = await all((query) => reader.GET("/members", { params: { query } }));
const auditLog = await all((query) => reader.GET("/audit-log", { params: { query } }));
const instructions = must(await reader.GET("/assistant/instructions"));

// Sent twice, it is executed once.
const request = { params: { path: { id: endpoint }, header: { "Idempotency-Key": "tour" } } };
const first = await writer.POST("/webhooks/{id}/test", request);
const again = await writer.POST("/webhooks/{id}/test", request);

const refused = await reader.POST("/webhooks/{id}/test", request);

console.log(
  JSON.stringify({
    members: members.map((member) => member.userId),
    auditLog: auditLog.map((entry) => entry.actorId ?? "nobody"),
    instructions: instructions.instructions,
    executedOnce: must(first).id === must(again).id,
    replayed: again.response.headers.get("Idempotent-Replayed") ?? "",
    refused: refused.error?.error.code,
  }),
);
