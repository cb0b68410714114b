// Consumers with a server. FRONT stands before it, as in server.test.ts.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { AdminClient } from "../src/admin.ts";
import { Client, consume, NotVerifiedError, TeamdataError, WebhookVerifier } from "../src/index.ts";
import type { Consumer } from "../src/index.ts";

const env = (name: string): string => process.env[name]!;
const admin = new AdminClient({ baseUrl: env("SERVER"), key: env("OPERATOR_TOKEN") });

// pullable makes an org with an endpoint to pull from, and runs consumers of it.
async function pullable(t: TestContext, faults = "", send = fetch) {
  const org = (await admin.createOrg({ name: "Pull", id: `org_${randomUUID()}` })).id;
  t.after(() => admin.deleteOrg(org));
  await admin.addMember(org, { userId: "usr_ada", role: "owner" });
  const { id: endpoint, secret } = await admin.createEndpoint(org, { kind: "pull", events: ["member.added"] });
  const { id: keyId, key } = await admin.createKey(org, { scopes: ["receive"], endpoints: [endpoint], createdBy: "usr_ada" });
  const client = new Client({ baseUrl: `${env("FRONT")}/${faults}/${randomUUID()}`, key: key!, fetch: send });
  const handled: string[] = [];

  const run = (more: Partial<Consumer> = {}) => {
    const ends = new AbortController();
    const ended = consume(client, {
      endpoint,
      verifier: new WebhookVerifier(secret!),
      handle: (event) => void (event.type === "member.added" && handled.push(event.data.userId)),
      signal: ends.signal,
      ...more,
    });
    ended.catch(() => {});
    t.after(() => ends.abort());
    const stop = () => {
      ends.abort();
      return ended;
    };
    return { ended, stop };
  };
  const add = async (...users: string[]) => {
    await admin.addMembers(org, { members: users.map((userId) => ({ userId, role: "member" })) });
  };
  // until waits for as many deliveries in a state, and returns them.
  const until = async (state: string, n: number) => {
    for (const began = Date.now(); ; ) {
      const found = [];
      for await (const delivery of admin.listDeliveries(org, { endpoint, state })) {
        found.push(delivery);
      }
      if (found.length === n) {
        return found;
      }
      assert.ok(Date.now() - began < 20_000, `${found.length} of ${n} deliveries are ${state}`);
    }
  };
  return { org, endpoint, keyId, client, handled, run, add, until };
}

const users = (n: number) => Array.from({ length: n }, (_, i) => `usr_${String(i).padStart(4, "0")}`);

test("one consumer handles events in order, once, and acknowledges all", async (t) => {
  const p = await pullable(t);
  await p.add(...users(130));
  const { stop } = p.run();
  await p.until("acknowledged", 130);
  await p.add("usr_last");
  await p.until("acknowledged", 131);
  await stop();
  assert.deepEqual(p.handled, [...users(130), "usr_last"]);
});

test("answers that are lost, cut or refusals", async (t) => {
  const p = await pullable(t, "cut,unavailable,lost,limited,proxy");
  await p.add(...users(30));
  const { stop } = p.run({ limit: 10, leaseSeconds: 5, parallel: 3 });
  await p.until("acknowledged", 30);
  await stop();
  assert.deepEqual([...new Set(p.handled)].sort(), users(30));
});

test("what is refused is given back with the reason", async (t) => {
  const p = await pullable(t);
  await p.add("usr_bad", "usr_fine");
  const refused: unknown[] = [];
  const { stop } = p.run({
    handle: (event) => {
      if (event.type === "member.added" && event.data.userId === "usr_bad") {
        throw new Error("the\ndatabase is \ud800away " + "é".repeat(400));
      }
    },
    refused: (pulled, error) => refused.push(pulled.headers["webhook-id"], error),
  });
  const [back] = await p.until("retrying", 1);
  await p.until("acknowledged", 1);
  await stop();
  const reason = (await admin.readDelivery(p.org, back!.id)).history.at(-1)!.reason ?? "";
  assert.match(reason, /^the database is \uFFFDaway é+…$/);
  assert.equal(reason.length, 300);
  assert.equal(refused[0], back!.id);
});

test("what was given back, and comes again before that is answered, is handled", async (t) => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  t.after(answer); // also if it fails
  const p = await pullable(t, "", async (...request) => {
    const response = await fetch(...request);
    if (String(request[0]).endsWith("/nack")) {
      await answered;
    }
    return response;
  });
  await p.add("usr_a");
  let n = 0;
  const { stop } = p.run({
    handle: () => {
      if (n++ === 0) {
        throw new Error("not yet");
      }
    },
  });
  const [back] = await p.until("retrying", 1);
  await admin.replayDelivery(p.org, back!.id);
  await p.until("acknowledged", 1);
  answer();
  await stop();
  assert.equal(n, 2);
});

test("what does not verify is given back, and no handler sees it", async (t) => {
  const p = await pullable(t);
  await p.add("usr_a");
  const refused: unknown[] = [];
  const { stop } = p.run({ verifier: new WebhookVerifier("whsec_b3RoZXItdGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzI="), refused: (_, error) => refused.push(error) });
  await p.until("retrying", 1);
  await stop();
  assert.ok(refused[0] instanceof NotVerifiedError);
  assert.deepEqual(p.handled, []);
});

test("a lease lasts as long as its handler", async (t) => {
  const p = await pullable(t);
  await p.add("usr_a");
  let goOn = () => {};
  let n = 0;
  const { stop } = p.run({ leaseSeconds: 5, handle: () => (n++, new Promise<void>((resolve) => (goOn = resolve))) });
  const [first] = await p.until("leased", 1);
  for (let at = first!.lease!.endsAt, extended = 0; extended < 3; ) {
    const [now] = await p.until("leased", 1);
    if (now!.lease!.endsAt !== at) {
      at = now!.lease!.endsAt;
      extended++;
    }
  }
  goOn();
  await p.until("acknowledged", 1);
  await stop();
  assert.equal(n, 1);
});

test("a consumer that stops finishes what it handles, and leaves the rest", async (t) => {
  const p = await pullable(t);
  await p.add(...users(10));
  let goOn = () => {};
  const begun = new Promise<AbortSignal>((resolve) => {
    const { stop } = p.run({
      handle: (event, { signal }) => {
        if (event.type === "member.added" && event.data.userId < "usr_0003") {
          return p.handled.push(event.data.userId); // so that the next pull has four
        }
        resolve(signal);
        void stop();
        return new Promise<void>((done) => (goOn = done));
      },
    });
  });
  assert.equal((await begun).aborted, false);
  goOn();
  await p.until("acknowledged", 4);
  const { stop } = p.run(); // the rest comes again within 5 s
  await p.until("acknowledged", 10);
  await stop();
  assert.deepEqual(p.handled.sort(), users(10).filter((user) => user !== "usr_0003"));
});

test("it ends when the key is revoked, or with what it was told wrong", async (t) => {
  const p = await pullable(t);
  const { ended } = p.run();
  await p.add("usr_a");
  await p.until("acknowledged", 1);
  await admin.revokeKey(p.org, p.keyId);
  await p.add("usr_b");
  await assert.rejects(ended, (error: unknown) => error instanceof TeamdataError && error.code === "unauthorized");
  for (const wrong of [{ parallel: 0 }, { limit: 101 }, { leaseSeconds: 4 }, { leaseSeconds: 5.5 }, { graceSeconds: -1 }]) {
    await assert.rejects(p.run(wrong).ended, RangeError);
  }
});

test("one that a consumer's retrying ends", async (t) => {
  const p = await pullable(t, "unavailable");
  const { ended } = p.run({ retrying: () => false });
  await assert.rejects(ended, { name: "TeamdataError", status: 503 });
});
