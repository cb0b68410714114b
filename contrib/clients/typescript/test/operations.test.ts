// Each operation of the descriptions is a method of its name, which makes its
// request. A client has no other methods.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AdminClient } from "../src/admin.ts";
import { Client, List, version } from "../src/index.ts";

interface Operation {
  operationId: string;
  requestBody?: { required?: boolean };
}

interface Document {
  info: { version: string };
  servers: [{ url: string }];
  paths: Record<string, Record<string, Operation>>;
}

const read = (variable: string): Document => JSON.parse(readFileSync(process.env[variable]!, "utf8"));
const api = read("OPENAPI");

const pathsOf = ({ paths, servers }: Document) => Object.entries(paths).map(([template, item]) => [servers[0].url, template, item] as const);

let last = "";
const config = {
  baseUrl: "https://data.example.com",
  key: "opr_1.secret",
  fetch: async (input: string | URL | Request, init?: RequestInit) => {
    last = `${init?.method} ${new URL(String(input)).pathname} ${init?.body ?? ""}`.trim();
    return new Response('{"data":[],"next":null,"hasMore":false,"events":[]}');
  },
};

for (const [documents, client] of [[[api, read("PULL_OPENAPI")], new Client(config)], [[read("ADMIN_OPENAPI")], new AdminClient(config)]] as const) {
  const prototype = Object.getPrototypeOf(client);
  const methods = new Set<string>();
  for (let from = prototype; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    Object.getOwnPropertyNames(from).forEach((name) => methods.add(name)); // those by hand are the base's
  }
  methods.delete("constructor");
  for (const [server, template, item] of documents.flatMap(pathsOf)) {
    for (const [method, operation] of Object.entries(item)) {
      if (method === "parameters") {
        continue;
      }
      const { operationId, requestBody } = operation;
      const known = methods.delete(operationId);
      test(`${prototype.constructor.name}.${operationId}`, async () => {
        assert.ok(known);
        const ids: string[] = [];
        const path = template.replace(/\{\w+\}/g, () => {
          ids.push(`p ${ids.length}`); // is to be escaped
          return `p%20${ids.length - 1}`;
        });
        const body = requestBody?.required ? [["addAuditEntries", "ackDeliveries"].includes(operationId) ? [] : { sample: true }] : [];
        const answer = (client as unknown as Record<string, (...args: unknown[]) => unknown>)[operationId]?.(...ids, ...body);
        await (answer instanceof List ? answer.pages().next() : answer);
        const want = `${method.toUpperCase()} ${server}${path}`;
        assert.equal(last.slice(0, want.length), want);
        assert.match(last.slice(want.length), requestBody?.required ? /^ \{/ : /^( \{\})?$/);
      });
    }
  }
  test(`${prototype.constructor.name} has no other methods`, () => assert.deepEqual([...methods], []));
}

test("the version", () => assert.equal(version, api.info.version));

test("what is no id", () => {
  const client = new Client(config);
  for (const id of ["", ".", ".."]) {
    assert.throws(() => client.testWebhook(id), TypeError);
  }
});

test("settings that are wrong", () => {
  for (const wrong of [{ baseUrl: "" }, { baseUrl: "data.example.com" }, { baseUrl: "data.example.com:8443" }, { key: "key_1.sec\nret" }]) {
    assert.throws(() => new Client({ ...config, ...wrong }), (error: Error) => error instanceof TypeError && !error.message.includes("sec\nret"));
  }
});

test("a key from a file, with the end of its line", async () => {
  let sent = "";
  const remember: typeof fetch = async (_, init) => {
    sent = new Headers(init?.headers).get("Authorization") ?? "";
    return new Response("{}");
  };
  await new Client({ ...config, key: "key_1.secret\n", fetch: remember }).getAssistantInstructions();
  assert.equal(sent, "Bearer key_1.secret");
});
