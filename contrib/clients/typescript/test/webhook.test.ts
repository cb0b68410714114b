// What verifies and what does not, without a server.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { NotVerifiedError, WebhookVerifier } from "../src/index.ts";

const oldSecret = "whsec_dGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzItYnl0ZXM=";
const newSecret = "whsec_bmV3LXRlYW1kYXRhLWV4YW1wbGUtc2VjcmV0LS0zMmI=";
const other = "whsec_b3RoZXItdGVhbWRhdGEtZXhhbXBsZS1zZWNyZXQtMzI=";
const body =
  '{"type":"member.added","timestamp":"2026-10-06T12:00:00.000Z","data":{"orgId":"org_acme","memberId":"mem_6","userId":"usr_zoe","role":"member"}}';
const noon = Date.parse("2026-10-06T12:00:00.000Z");

function sign(text: string, ...secrets: string[]): Record<string, string> {
  const timestamp = String(noon / 1000);
  const signatures = secrets.map((secret) => {
    const mac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"));
    return "v1," + mac.update(`whd_1.${timestamp}.${text}`).digest("base64");
  });
  return { "webhook-id": "whd_1", "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

const verifier = (after: number, ...secrets: string[]) => new WebhookVerifier(secrets, { now: () => noon + after });

test("the vectors", async () => {
  type Vector = { name: string; secret: string; id: string; timestamp: string; body: string; signature: string };
  const vectors: Vector[] = JSON.parse(readFileSync(process.env["VECTORS"]!, "utf8"));
  assert.ok(vectors.length > 0);
  for (const v of vectors) {
    const headers = { "webhook-id": v.id, "webhook-timestamp": v.timestamp, "webhook-signature": v.signature };
    const now = () => Number(v.timestamp) * 1000;
    const event = await new WebhookVerifier(v.secret, { now }).verify(headers, v.body);
    assert.equal(event.id, v.id, v.name);
    await assert.rejects(new WebhookVerifier(v.secret, { now }).verify(headers, v.body + " "), NotVerifiedError, v.name);
  }
});

const one = sign(body, oldSecret);
const both = sign(body, newSecret, oldSecret);
const fits = one["webhook-signature"]!;

test("what verifies", async (t) => {
  const cases: [string, Record<string, string>, number, string[]][] = [
    ["one signature", one, 0, [oldSecret]],
    ["rotation, the old secret", both, 0, [oldSecret]],
    ["rotation, the new secret", both, 0, [newSecret]],
    ["rotation, both secrets", one, 0, [newSecret, oldSecret]],
    ["a signature of another scheme first", { ...one, "webhook-signature": "v1a,AAAA " + fits }, 0, [oldSecret]],
    ["5 minutes ago", one, 300_000, [oldSecret]],
    ["in 5 minutes", one, -300_000, [oldSecret]],
  ];
  for (const [name, headers, after, secrets] of cases) {
    await t.test(name, async () => {
      const event = await verifier(after, ...secrets).verify(headers, body);
      assert.ok(event.type === "member.added");
      assert.equal(event.data.userId, "usr_zoe");
      assert.equal(event.id, "whd_1");
    });
  }
});

test("what does not verify", async (t) => {
  const cases: [string, Record<string, string>, number, string[], RegExp][] = [
    ["more than 5 minutes ago", one, 300_001, [oldSecret], /300 s from now/],
    ["in more than 5 minutes", one, -300_001, [oldSecret], /300 s from now/],
    ["another secret", one, 0, [other], /no signature fits/],
    ["another id", { ...one, "webhook-id": "whd_2" }, 0, [oldSecret], /no signature fits/],
    ["another time", { ...one, "webhook-timestamp": String(noon / 1000 + 1) }, 0, [oldSecret], /no signature fits/],
    ["a cut signature", { ...one, "webhook-signature": fits.slice(0, -1) }, 0, [oldSecret], /no signature fits/],
    ["another scheme alone", { ...one, "webhook-signature": "v2" + fits.slice(2) }, 0, [oldSecret], /no signature fits/],
    ["no signature", { ...one, "webhook-signature": "" }, 0, [oldSecret], /no signature fits/],
    ["no id", { ...one, "webhook-id": "" }, 0, [oldSecret], /webhook-id is missing/],
    ["no header", {}, 0, [oldSecret], /webhook-timestamp is missing/],
  ];
  for (const [name, headers, after, secrets, message] of cases) {
    await t.test(name, () => assert.rejects(verifier(after, ...secrets).verify(headers, body), { name: "NotVerifiedError", message }));
  }
});

test("the tolerance", async () => {
  const patient = new WebhookVerifier(oldSecret, { now: () => noon + 3_600_000, toleranceSeconds: 3600 });
  assert.equal((await patient.verify(one, body)).id, "whd_1");
});

test("bytes, headers of fetch, and streams of up to 1 MiB", async () => {
  const v = verifier(0, oldSecret);
  await v.verify(new Headers(one), new TextEncoder().encode(body));
  await v.verify(new Headers(one), new Request("https://a.example", { method: "POST", body }).body);
  for (const [size, ok] of [[1 << 20, true], [(1 << 20) + 1, false]] as const) {
    const large = `{"type":"${"y".repeat(size - 11)}"}`;
    const verified = v.verify<{ type: string }>(sign(large, oldSecret), new Blob([large]).stream());
    await (ok ? verified : assert.rejects(verified, { name: "NotVerifiedError", message: /larger than 1 MiB/ }));
  }
});

test("headers of other runtimes, and in any case", async () => {
  const v = verifier(0, oldSecret);
  const names = Object.entries(one);
  await v.verify(Object.fromEntries(names.map(([name, value]) => [name.toUpperCase(), value])), body);
  await v.verify(Object.fromEntries(names.map(([name, value]) => [name.replace("webhook", "Webhook"), [value]])), body);
  await v.verify({ get: (name) => one[name.toLowerCase()] }, body);
  await assert.rejects(v.verify({ get: () => null }, body), { name: "NotVerifiedError", message: /webhook-timestamp is missing/ });
});

test("bytes of other kinds and realms", async () => {
  const v = verifier(0, oldSecret);
  const bytes = new TextEncoder().encode(body);
  const whole = bytes.buffer.slice(0, bytes.length);
  const foreign: Uint8Array<ArrayBuffer> = runInNewContext(`Uint8Array.from(${JSON.stringify([...bytes])})`);
  assert.equal(foreign instanceof Uint8Array, false);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  const around = new Uint8Array(bytes.length + 2);
  around.set(bytes, 1);
  for (const given of [whole, new DataView(around.buffer, 1, bytes.length), Buffer.from(body), shared, foreign, foreign.buffer]) {
    await v.verify(one, given);
    await v.verify(one, Readable.from([given, ""]));
    await assert.rejects(v.verify({ ...one, "webhook-id": "whd_2" }, given), { name: "NotVerifiedError", message: /no signature fits/ });
  }
});

test("a body that was parsed or read before", async () => {
  const v = verifier(0, oldSecret);
  for (const parsed of [JSON.parse(body), [], 7, true, Readable.from([JSON.parse(body)])]) {
    await assert.rejects(v.verify(one, parsed), { name: "TypeError", message: /the body was parsed: .* express\.json/ });
  }
  await assert.rejects(v.verify(one, undefined as unknown as null), { name: "TypeError", message: /the body is missing/ });
  const read = Readable.from([Buffer.from(body)]);
  for await (const _ of read) {
  }
  for (const empty of [read, null, ""]) {
    await assert.rejects(v.verify(one, empty), { name: "NotVerifiedError", message: /the body is empty: something has read it/ });
  }
});

test("secrets that are not whole", () => {
  const long = "whsec_" + "A".repeat(88);
  for (const secrets of [[], [""], ["whsec_"], [oldSecret.slice(6)], [oldSecret.slice(0, 30)], [oldSecret, long], [oldSecret + "\n"], ["whsec_" + "A".repeat(28)]]) {
    assert.throws(() => new WebhookVerifier(secrets), (error: Error) => error instanceof TypeError && !error.message.includes("dGVh"), JSON.stringify(secrets));
  }
});
