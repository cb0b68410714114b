// What a client makes of answers that are not a server's: those of a real one in this
// process.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Client } from "../src/index.ts";

// answering makes a client of a server that answers like this, and counts the requests.
async function answering(t: TestContext, answer: RequestListener) {
  let n = 0;
  const server = createServer((request, response) => {
    n++;
    answer(request, response);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { client: new Client({ baseUrl: `http://127.0.0.1:${port}`, key: "key_1.secret" }), requests: () => n };
}

test("a redirect is an error: the key is sent to the server of the config alone", async (t) => {
  for (const status of [301, 302, 307, 308]) {
    const { client, requests } = await answering(t, (_, response) => {
      response.writeHead(status, { Location: "/elsewhere" }).end();
    });
    await assert.rejects(client.testWebhook("whe_1"), { name: "TeamdataError", status });
    assert.equal(requests(), 1);
  }
});

test("a request says which client sends it, unless the call says otherwise", async (t) => {
  let seen: string | undefined;
  const { client } = await answering(t, (request, response) => {
    seen = request.headers["user-agent"];
    response.end('{"instructions":null,"updatedAt":null}');
  });
  await client.getAssistantInstructions();
  assert.match(seen ?? "", /^teamdata-typescript\/\d+\.\d+\.\d+$/);
  await client.getAssistantInstructions({ headers: { "User-Agent": "mine/1" } });
  assert.equal(seen, "mine/1");
});

test("an answer of 16 MiB is read, and a larger one is not, however long it goes on", async (t) => {
  const most = 16 * 2 ** 20;
  const fits = await answering(t, (_, response) => {
    response.end('{"instructions":"é","updatedAt":null}'.padEnd(most - 1)); // é has two bytes
  });
  assert.equal((await fits.client.getAssistantInstructions()).instructions, "é");

  const endless = await answering(t, (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(" ".repeat(1 << 16))) {}
    };
    response.on("drain", more);
    more();
  });
  await assert.rejects(endless.client.getAssistantInstructions(), { name: "RangeError", message: /larger than 16777216 bytes/ });
  assert.equal(endless.requests(), 1);
});
