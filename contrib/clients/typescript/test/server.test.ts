// Both clients with a server. FRONT stands before it, and does to the first requests
// of a client what the path in its base URL says.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { AdminClient } from "../src/admin.ts";
import { Client, NoAnswerError, TeamdataError } from "../src/index.ts";
import type { Config } from "../src/index.ts";

const env = (name: string): string => process.env[name]!;
const server = env("SERVER");
const reader = new Client({ baseUrl: server + "/", key: env("READ_KEY") });
const admin = new AdminClient({ baseUrl: server, key: env("OPERATOR_TOKEN") });

// behind makes a client whose first requests suffer these faults, one each, and
// tells what was requested.
function behind(faults: string, more: Partial<Config> = {}) {
  const way = `${faults}/${randomUUID()}`;
  const client = new Client({ baseUrl: `${env("FRONT")}/${way}`, key: env("WRITE_KEY"), ...more });
  const seen = async (): Promise<string[]> => (await fetch(`${env("FRONT")}/seen/${way}`)).json() as Promise<string[]>;
  return { client, seen };
}

async function tests(): Promise<number> {
  let n = 0;
  for await (const _ of admin.listDeliveries("org_acme", { endpoint: "whe_hook" })) {
    n++;
  }
  return n;
}

test("lists, from one cursor to the next", async () => {
  const users: string[] = [];
  for await (const member of reader.listMembers({ limit: 2 })) {
    users.push(member.userId);
  }
  assert.deepEqual(users, ["usr_ada", "usr_bruno", "usr_chloe", "usr_deniz", "usr_emiko"]);

  const pages = [];
  for await (const page of reader.listMembers({ limit: 2 }).pages()) {
    pages.push(page);
  }
  assert.deepEqual(pages.map((page) => page.data.length), [2, 2, 1]);

  const rest = reader.listMembers({ after: pages[0]!.next });
  for await (const member of rest) {
    assert.equal(member.userId, "usr_chloe"); // read again below, from its start
    break;
  }
  const { value: end } = await reader.listMembers({ after: pages[2]!.next }).pages().next();
  assert.deepEqual(end, { data: [], next: pages[2]!.next, hasMore: false });
  assert.equal((await rest.pages().next()).value?.data.length, 3);
});

test("an error, with what its body says", async () => {
  const refused = reader.testWebhook("whe_hook");
  await assert.rejects(refused, (error: unknown) => {
    assert.ok(error instanceof TeamdataError);
    assert.equal(error.status, 403);
    assert.equal(error.code, "forbidden");
    assert.match(error.message, /scope/);
    assert.equal(error.requestId, error.headers.get("X-Request-Id"));
    return true;
  });
  const docs = `${server}/docs#badRequest`;
  await assert.rejects(reader.listMembers({ limit: 101 }).pages().next(), { status: 400, code: "badRequest", field: "limit", docs });

  let etag = "";
  await reader.getAssistantInstructions({ onResponse: (response) => (etag = response.headers.get("ETag") ?? "") });
  await assert.rejects(reader.getAssistantInstructions({ headers: { "If-None-Match": etag } }), { name: "TeamdataError", status: 304 });
});

test("an answer that is lost is asked for again, and the request executed once", async () => {
  const { client, seen } = behind("lost,cut,unavailable");
  const before = await tests();
  let replayed: string | null = "";
  const { id } = await client.testWebhook("whe_hook", { onResponse: (response) => (replayed = response.headers.get("Idempotent-Replayed")) });
  assert.match(id, /^whd_/);
  assert.equal(replayed, "true");
  assert.equal(await tests(), before + 1);
  const requests = await seen();
  assert.equal(requests.length, 4);
  assert.equal(new Set(requests).size, 1, "all attempts carry one Idempotency-Key");
  assert.match(requests[0]!, /^POST \/api\/v1\/webhooks\/whe_hook\/test [0-9a-f-]{36}$/);
});

test("while the first attempt still runs, the next waits for it", async () => {
  const { client, seen } = behind("lost,running");
  await client.testWebhook("whe_hook");
  assert.equal((await seen()).length, 3);
});

test("each call has a key of its own, or the one that it is given", async () => {
  const { client } = behind("");
  const first = await client.testWebhook("whe_hook");
  const second = await client.testWebhook("whe_hook");
  assert.notEqual(first.id, second.id);
  const idempotencyKey = randomUUID();
  const third = await client.testWebhook("whe_hook", { idempotencyKey });
  assert.deepEqual(await client.testWebhook("whe_hook", { idempotencyKey }), third);
});

test("a wait that the server asks for", async () => {
  const { client, seen } = behind("limited");
  const start = Date.now();
  await client.getAssistantInstructions().catch((error) => assert.equal(error.code, "forbidden"));
  assert.ok(Date.now() - start >= 1000);
  assert.equal((await seen()).length, 2);
});

test("what is not asked for again", async () => {
  for (const [faults, more, code] of [
    ["later", {}, "unavailable"], // asks for more than a minute
    ["unavailable", { retries: 0 }, "unavailable"],
    ["running", {}, "conflict"], // no attempt of this call is running
    ["proxy", { retries: 0 }, ""],
  ] as const) {
    const { client, seen } = behind(faults, more);
    await assert.rejects(client.testWebhook("whe_hook"), { name: "TeamdataError", code }, faults);
    assert.equal((await seen()).length, 1, faults);
  }
  const { client } = behind("lost", { retries: 0 });
  await assert.rejects(client.testWebhook("whe_hook"), NoAnswerError);
  const slow = behind("slow", { retries: 0, timeoutMs: 50 });
  await assert.rejects(slow.client.testWebhook("whe_hook"), NoAnswerError);
});

test("a signal ends a call", async () => {
  const { client, seen } = behind("slow");
  const gone = new AbortController();
  const called = client.testWebhook("whe_hook", { signal: gone.signal });
  while ((await seen()).length === 0) {}
  gone.abort(new Error("enough"));
  await assert.rejects(called, /enough/);

  const waiting = behind("patience"); // asks to wait for a minute
  const limit = new AbortController();
  const answer = waiting.client.testWebhook("whe_hook", { signal: limit.signal });
  while ((await waiting.seen()).length === 0) {}
  limit.abort(new Error("enough"));
  await assert.rejects(answer, /enough/);
});

test("the admin API", async () => {
  const org = await admin.createOrg({ name: "Type", id: `org_${randomUUID()}` });
  await admin.addMember(org.id, { userId: "usr_ada", role: "owner", name: "Ada" });
  const changed = await admin.updateMember(org.id, "usr_ada", { name: null }, { actor: "usr_ada" });
  assert.equal(changed.name, "");
  const ids = await admin.addAuditEntries(org.id, [{ action: "door.opened" }, { action: "door.closed" }], { actor: "usr_ada" });
  const entries = [];
  for await (const entry of admin.listAuditLog(org.id)) {
    entries.push(entry);
  }
  assert.deepEqual(entries.slice(-2).map((entry) => [entry.id, entry.actorId]), ids.map((id) => [id, "usr_ada"]));

  const outcomes = await admin.addMembers(org.id, { members: [{ userId: "usr_ada", role: "owner" }, { userId: "usr_bob", role: "member" }], upsert: true });
  assert.deepEqual(outcomes.map((outcome) => outcome.result), ["unchanged", "added"]);
  assert.equal((await admin.putMember(org.id, "usr_bob", { role: "admin" })).role, "admin");

  const { etag, instructions } = await admin.readInstructions(org.id);
  assert.equal(instructions, null);
  await admin.putInstructions(org.id, { instructions: "Be brief." }, { ifMatch: etag });
  await assert.rejects(admin.clearInstructions(org.id, { ifMatch: etag }), { status: 412, code: "preconditionFailed" });
  assert.equal(await admin.clearInstructions(org.id), undefined);

  const endpoint = await admin.createEndpoint(org.id, { url: "https://example.com/hook", events: ["assistant.instructionsChanged"] });
  const rotated = await admin.rotateSecret(org.id, endpoint.id, { overlapSeconds: 60 });
  const secrets = await admin.readSecret(org.id, endpoint.id, { actor: "usr_ada" });
  assert.deepEqual([secrets.secret, secrets.oldSecret], [rotated.secret, endpoint.secret]);
  await admin.disableEndpoint(org.id, endpoint.id);
  const deliveries = await admin.sendEvent(org.id, { type: "assistant.instructionsChanged", data: { orgId: org.id } });
  const { value: held } = await admin.listDeliveries(org.id, { endpoint: endpoint.id, state: "held", limit: 10 }).pages().next();
  assert.deepEqual(held?.data.map((delivery) => delivery.id), deliveries);
  const counted = await admin.createReplay(org.id, { filter: { state: "held" }, dryRun: true }); // what was never attempted is not replayed
  assert.deepEqual(counted, { total: 0, more: false, endpoints: [] });
  await admin.createReplay(org.id, { filter: { state: "held" } }, { actor: "usr_ada" });
  const { value: replays } = await admin.listReplays(org.id).pages().next();
  assert.deepEqual(replays?.data.map((replay) => [replay.filter?.state, replay.actorId]), [["held", "usr_ada"]]);
  const cancelled = await admin.cancelReplay(org.id, replays!.data[0]!.id);
  assert.deepEqual(await admin.readReplay(org.id, cancelled.id), cancelled);
  const event = { type: "assistant.instructionsChanged", data: { orgId: org.id } };
  const many = await admin.sendEvents(org.id, [event, event]);
  assert.deepEqual(many.map((deliveries) => deliveries.length), [1, 1]);
  await admin.deleteEndpoint(org.id, endpoint.id);

  const key = await admin.createKey(org.id, { scopes: ["read"], createdBy: "usr_ada" });
  const mine = new Client({ baseUrl: server, key: key.key! });
  const { value: page } = await mine.listMembers().pages().next();
  assert.deepEqual(page?.data.map((member) => member.userId), ["usr_ada", "usr_bob"]);

  assert.equal(await admin.deleteOrg(org.id), undefined);
  await assert.rejects(admin.readOrg(org.id), { code: "notFound" });

  const backup = await admin.readBackup();
  const size = (await backup.arrayBuffer()).byteLength;
  assert.equal(size, Number(backup.headers.get("Teamdata-Backup-Size")));
});
