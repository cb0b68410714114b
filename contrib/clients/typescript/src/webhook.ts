// Verifies webhooks, as Standard Webhooks has it.

import type { components } from "./types.gen.ts";

type Schema = components["schemas"][keyof components["schemas"]];

/** The events of the API. The operator may register more. */
export type WebhookEvent = Extract<Schema, { type: string; timestamp: string; data: object }>;

/** The headers of a request: those of fetch in any runtime, or an object such as that of Node, with names in any case. */
export type WebhookHeaders = { get(name: string): string | null | undefined } | Record<string, string | string[] | undefined>;

/** The body of a request: bytes, text, or a stream of them such as those of fetch and of Node. */
export type WebhookBody = WebhookBytes | AsyncIterable<WebhookBytes> | null;

/** Bytes, or text. */
export type WebhookBytes = string | ArrayBufferView | ArrayBufferLike;

/** Is thrown for a webhook that does not verify. Answer it with 400. */
export class NotVerifiedError extends Error {
  override readonly name = "NotVerifiedError";
}

export interface VerifierOptions {
  /** How far the time of signing may be from now, in seconds; the default is 5 minutes. */
  toleranceSeconds?: number;
  /** Tells the time, in milliseconds since 1970; the default is `Date.now`. */
  now?: () => number;
}

const secretForm = /^whsec_((?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const maxEvent = 1 << 20;

/** Verifies webhooks by the secrets of an endpoint. */
export class WebhookVerifier {
  readonly #keys: Promise<CryptoKey>[];
  readonly #toleranceSeconds: number;
  readonly #now: () => number;

  /**
   * A webhook that is signed with any of the secrets verifies: give both while a secret
   * is rotated. A secret is `whsec_` and the base64 of 24 to 64 bytes.
   */
  constructor(secrets: string | string[], options: VerifierOptions = {}) {
    const all = [secrets].flat();
    if (all.length === 0) {
      throw new TypeError("there is no webhook secret to verify with");
    }
    this.#keys = all.map((secret, i) => {
      const [, text] = secretForm.exec(secret) ?? [];
      const bytes = Uint8Array.from(atob(text ?? ""), (c) => c.charCodeAt(0));
      if (bytes.length < 24 || bytes.length > 64) {
        throw new TypeError(`webhook secret ${i + 1} of ${all.length} is malformed: it must be whsec_ followed by the base64 of 24 to 64 bytes`);
      }
      return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    });
    this.#toleranceSeconds = options.toleranceSeconds ?? 300;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Verifies a webhook by its headers and its body. The body must be as it came: one that
   * something has parsed is a `TypeError`. A stream is read here, up to 1 MiB:
   *
   *     await verifier.verify(request.headers, request.body); // fetch, Deno, Bun
   *     await verifier.verify(request.headers, request);      // node:http
   *
   * Skip an event whose `id` you have handled, and acknowledge types that you don't
   * know. `Own` are the event types that the operator has registered.
   */
  async verify<Own extends { type: string } = never>(headers: WebhookHeaders, body: WebhookBody): Promise<(WebhookEvent | Own) & { id: string }> {
    const id = header(headers, "webhook-id");
    const timestamp = header(headers, "webhook-timestamp");
    this.#checkTime(timestamp);
    if (id === "") {
      throw new NotVerifiedError("the header webhook-id is missing");
    }
    const content = await read(body);
    if (!(await this.#signed(header(headers, "webhook-signature"), `${id}.${timestamp}.`, content))) {
      throw new NotVerifiedError(content.length === 0 ? "the body is empty: something has read it before" : "no signature fits the body and a secret");
    }
    return { ...JSON.parse(new TextDecoder().decode(content)), id };
  }

  #checkTime(timestamp: string): void {
    if (!/^[0-9]{1,12}$/.test(timestamp)) {
      throw new NotVerifiedError("the header webhook-timestamp is missing, or no number of seconds");
    }
    const off = Math.abs(this.#now() / 1000 - Number(timestamp));
    if (off > this.#toleranceSeconds) {
      throw new NotVerifiedError(`it was signed ${Math.floor(off)} s from now; look at the clock`);
    }
  }

  async #signed(signatures: string, head: string, body: Uint8Array): Promise<boolean> {
    const start = new TextEncoder().encode(head);
    const content = joined([start, body], start.length + body.length);
    for (const key of this.#keys) {
      const sum = new Uint8Array(await crypto.subtle.sign("HMAC", await key, content));
      const want = "v1," + btoa(String.fromCharCode(...sum));
      if (signatures.split(" ").some((given) => equal(given, want))) {
        return true;
      }
    }
    return false;
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const value = ofFetch(headers) ? headers.get(name) : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

// ofFetch and isStream go by what a value can do, and bytesOf by what it is made of:
// another runtime or realm has classes of its own.
function ofFetch(headers: WebhookHeaders): headers is { get(name: string): string | null | undefined } {
  return typeof headers["get" as keyof WebhookHeaders] === "function";
}

function isStream(body: unknown): body is AsyncIterable<WebhookBytes> {
  return typeof (body as AsyncIterable<WebhookBytes> | undefined)?.[Symbol.asyncIterator] === "function";
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === "string") {
    return new TextEncoder().encode(value);
  }
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  const isBuffer = /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));
  return isBuffer ? new Uint8Array(value as ArrayBufferLike) : undefined;
}

async function read(body: WebhookBody): Promise<Uint8Array> {
  const whole = body === null ? new Uint8Array() : bytesOf(body);
  if (whole !== undefined) {
    return whole;
  }
  if (!isStream(body)) {
    throw parsed(body);
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    const bytes = bytesOf(part);
    if (bytes === undefined) {
      throw parsed(part);
    }
    size += bytes.length;
    if (size > maxEvent) {
      throw new NotVerifiedError("the body is larger than 1 MiB");
    }
    parts.push(bytes);
  }
  return joined(parts, size);
}

function parsed(body: unknown): TypeError {
  return new TypeError(`the body ${body === undefined ? "is missing" : "was parsed"}: verify needs it as it came, before anything such as express.json() reads it`);
}

function joined(parts: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// equal compares in a time that does not depend on where the texts differ.
function equal(given: string, want: string): boolean {
  let difference = given.length ^ want.length;
  for (let i = 0; i < want.length; i++) {
    difference |= given.charCodeAt(i) ^ want.charCodeAt(i);
  }
  return difference === 0;
}
