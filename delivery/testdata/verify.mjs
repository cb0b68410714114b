// Verifies deliveries with the Standard Webhooks reference library.
//
//   node verify.mjs FOLDER
//
// FOLDER is where npm has installed the library. Each line of the input is
// {"secret", "headers", "body"}; each line of the output is a JSON string: what
// the library says against it, or "" when it verifies.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(resolve(process.argv[2]), "from-here.js"));
const { Webhook } = require("standardwebhooks");

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  let against = "";
  try {
    new Webhook(secret).verify(body, headers);
  } catch (error) {
    against = error.message;
  }
  console.log(JSON.stringify(against));
}
