// Sends requests, retries them, and reads lists. Both clients use it.

/** Which server a client uses, with which key, and how it retries. */
export interface Config {
  /** Where the server is, such as `https://data.example.com`. */
  baseUrl: string;
  /** An API key; for the admin API an operator token. */
  key?: string;
  /**
   * Sends the requests; the default is the runtime's own `fetch`. To trust the CA of
   * a server in Node, set `NODE_EXTRA_CA_CERTS`. A redirect is not followed, and is a
   * `TeamdataError`: it could lead the key elsewhere, or over plain HTTP.
   */
  fetch?: typeof fetch;
  /**
   * How often a request is sent again; 0 is never, and the default is 4 times.
   *
   * A request is sent again if it got no answer, or was answered with 429 or a status
   * of 500 and above: after the server's `Retry-After`, or without one after 0.5 s,
   * 1 s, 2 s and so on, shortened at random by up to a half. A `Retry-After` of more
   * than a minute ends the retries.
   *
   * All attempts of a POST carry one `Idempotency-Key`, so it is executed once. PUT,
   * PATCH and DELETE can be repeated as they are; a DELETE whose first answer was lost
   * ends in a `notFound`.
   */
  retries?: number;
  /** Ends an attempt that takes longer, in milliseconds; the default is a minute. */
  timeoutMs?: number;
}

/** Options of a single call. */
export interface CallOptions {
  /**
   * Makes a POST one with every other that has the same key, for 24 hours: only the
   * first is executed. Without it each call has a key of its own. 1 to 255 printable
   * ASCII characters.
   */
  idempotencyKey?: string;
  /** Ends the call, even while it waits to send its request again. */
  signal?: AbortSignal;
  /** In place of the client's. */
  retries?: number;
  /** In place of the client's. */
  timeoutMs?: number;
  /** Further headers of the request. */
  headers?: Record<string, string>;
  /**
   * Is given the last answer, whose headers have `Idempotent-Replayed`, `RateLimit`
   * and `X-Request-Id` among others. Its body has been read.
   */
  onResponse?: (response: Response) => void;
}

/** The codes of errors. There may be more of them. */
export type ErrorCode =
  | "badRequest"
  | "unauthorized"
  | "upgradeRequired"
  | "forbidden"
  | "notFound"
  | "methodNotAllowed"
  | "conflict"
  | "preconditionFailed"
  | "payloadTooLarge"
  | "idempotencyMismatch"
  | "rateLimited"
  | "internal"
  | "unavailable"
  | (string & {});

interface ErrorBody {
  error: { code: string; message: string; field?: string; requestId?: string; docs?: string };
}

/** An answer that is not a success. */
export class TeamdataError extends Error {
  override readonly name = "TeamdataError";
  /** Of HTTP; 0 for a redirect in a browser, which tells nothing of it. */
  readonly status: number;
  /** What programs check; empty if something between answered, such as a proxy. */
  readonly code: ErrorCode;
  /** The parameter, header or field that is wrong, if there is one. */
  readonly field: string | undefined;
  /** Quote it when you ask the operator about the request. */
  readonly requestId: string | undefined;
  /** The URL that describes the code. */
  readonly docs: string | undefined;
  /** The seconds to wait before trying again, if the server says so. */
  readonly retryAfter: number | undefined;
  /** Of the answer. */
  readonly headers: Headers;

  constructor(response: Response, text: string) {
    const body = errorBody(text);
    super(body?.message ?? (response.status ? `${response.status} ${response.statusText}` : "a redirect, which is not followed"));
    this.status = response.status;
    this.headers = response.headers;
    this.code = body?.code ?? "";
    this.field = body?.field;
    this.docs = body?.docs && URL.canParse(body.docs, response.url) ? new URL(body.docs, response.url).href : body?.docs;
    this.requestId = body?.requestId ?? response.headers.get("X-Request-Id") ?? undefined;
    const seconds = Number(response.headers.get("Retry-After"));
    this.retryAfter = seconds > 0 ? seconds : undefined;
  }
}

function errorBody(text: string): ErrorBody["error"] | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody>;
    return typeof body.error?.code === "string" ? body.error : undefined;
  } catch {
    return undefined;
  }
}

/** A request that got no answer, and may have been executed; `cause` says why. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

const firstWaitMs = 500;
const longestWaitMs = 60_000;
const maxAnswer = 16 * 2 ** 20; // bytes

// userAgent says which release of the client sends a request.
const userAgent = "teamdata-typescript/1.0.0";

interface Call extends CallOptions {
  query?: Record<string, string>;
  body?: unknown;
}

/** Sends the requests of a client. Use it for an operation that a client does not have yet. */
export class Transport {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #retries: number;
  readonly #timeoutMs: number;

  /** Makes a transport for the API below a path; the headers are sent with each request. */
  constructor(config: Config, path: string, headers: Record<string, string> = {}) {
    const key = config.key?.trim() ?? "";
    if (!/^[!-~]*$/.test(key)) {
      throw new TypeError("the key is malformed: it must be <id>.<secret>"); // fetch would tell it
    }
    if (!URL.canParse(config.baseUrl) || !/^https?:$/.test(new URL(config.baseUrl).protocol)) {
      throw new TypeError(`baseUrl is ${JSON.stringify(config.baseUrl)}; it must be a URL such as https://data.example.com`);
    }
    this.#base = config.baseUrl.replace(/\/+$/, "") + path;
    this.#headers = { "User-Agent": userAgent, ...headers, ...(key && { Authorization: `Bearer ${key}` }) };
    this.#fetch = config.fetch ?? ((...request) => fetch(...request));
    this.#retries = config.retries ?? 4;
    this.#timeoutMs = config.timeoutMs ?? 60_000;
  }

  /** Makes a request, with retries, and returns its answer. */
  async request<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const url = this.#url(path, call.query);
    const init = this.#init(method, call);
    for (let retry = 0, unanswered = false; ; retry++) {
      try {
        const { response, text } = await this.#attempt(url, init, call);
        call.onResponse?.(response);
        if (!response.ok) {
          throw new TeamdataError(response, text);
        }
        return (text === "" ? undefined : JSON.parse(text)) as T;
      } catch (error) {
        const waitMs = waitFor(error, retry, unanswered);
        if (waitMs === undefined || retry >= (call.retries ?? this.#retries)) {
          throw error;
        }
        unanswered ||= method === "POST" && error instanceof NoAnswerError;
        await pause(waitMs, call.signal);
      }
    }
  }

  /** Makes a request once, and returns its answer for reading. */
  async open(method: string, path: string, call: Call = {}): Promise<Response> {
    const response = await this.#fetch(this.#url(path, call.query), { ...this.#init(method, call), signal: call.signal ?? null });
    call.onResponse?.(response);
    if (!response.ok) {
      throw new TeamdataError(response, (await textOf(response)) ?? "");
    }
    return response;
  }

  #url(path: string, query: Record<string, string> = {}): string {
    const text = new URLSearchParams(query).toString();
    return this.#base + path + (text && "?" + text);
  }

  #init(method: string, call: Call): RequestInit {
    const headers: Record<string, string> = { ...this.#headers };
    if (method === "POST") {
      headers["Idempotency-Key"] = call.idempotencyKey ?? crypto.randomUUID();
    }
    if (call.body === undefined) {
      return { method, headers: { ...headers, ...call.headers }, redirect: "manual" };
    }
    headers["Content-Type"] = "application/json";
    return { method, headers: { ...headers, ...call.headers }, body: JSON.stringify(call.body), redirect: "manual" };
  }

  async #attempt(url: string, init: RequestInit, { signal, timeoutMs }: Call): Promise<{ response: Response; text: string }> {
    const limit = AbortSignal.timeout(timeoutMs ?? this.#timeoutMs);
    let response: Response;
    let text: string | undefined;
    try {
      response = await this.#fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, limit]) : limit });
      text = await textOf(response);
    } catch (cause) {
      signal?.throwIfAborted();
      throw new NoAnswerError(`${init.method} ${url} got no answer: ${reason(cause)}`, { cause });
    }
    if (text === undefined) {
      throw new RangeError(`${init.method} ${url}: the answer is larger than ${maxAnswer} bytes`);
    }
    return { response, text };
  }
}

// textOf reads an answer; undefined is one that is too large.
async function textOf(response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  for (let size = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    size += value.length;
    if (size > maxAnswer) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

// reason is what an error says, and what its cause says: fetch itself says only that it
// failed.
function reason(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

// waitFor is how long to wait before a request is sent again, if it is at all.
// Unanswered says that an attempt of a POST before this one may still run.
function waitFor(error: unknown, retry: number, unanswered: boolean): number | undefined {
  const waitMs = Math.min(firstWaitMs * 2 ** retry, longestWaitMs) * (1 - Math.random() / 2);
  if (error instanceof NoAnswerError) {
    return waitMs;
  }
  if (!(error instanceof TeamdataError)) {
    return undefined;
  }
  if (error.status === 429 || error.status >= 500) {
    const asked = (error.retryAfter ?? 0) * 1000;
    return asked > longestWaitMs ? undefined : asked || waitMs;
  }
  // The first attempt still runs. If the conflict is another one, the next answer is
  // a replay of it.
  const running = error.status === 409 && unanswered && !error.headers.has("Idempotent-Replayed");
  return running ? waitMs : undefined;
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Makes a path, whose values are ids: path`/orgs/${org}/members`. */
export function path(texts: TemplateStringsArray, ...ids: string[]): string {
  return ids.reduce((made, id, i) => {
    // A URL would drop these, and name something else.
    if (id === "" || id === "." || id === "..") {
      throw new TypeError(`${JSON.stringify(id)} is not an id`);
    }
    return made + encodeURIComponent(id) + texts[i + 1];
  }, texts[0] ?? "");
}

/** A part of a list. */
export interface Page<T> {
  data: T[];
  /** For `after`; null only if the list is empty and no `after` was given. */
  next: string | null;
  /** Whether more items followed at the time of the request. */
  hasMore: boolean;
}

/** Where a list begins, and how it is read. */
export interface ListOptions extends CallOptions {
  /** The `next` of an earlier page: the list continues after it. A cursor does not expire. */
  after?: string | null;
  /** How many items a page has at most: 1 to 100, which is the default. */
  limit?: number;
}

/**
 * One of the API's lists: `for await (const item of list)`. It is requested page by
 * page meanwhile, and may be read again.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #options: ListOptions;
  readonly #query: Record<string, string>;

  constructor(transport: Transport, path: string, options: ListOptions = {}, query: Record<string, string> = {}) {
    this.#transport = transport;
    this.#path = path;
    this.#options = options;
    this.#query = query;
  }

  /**
   * The pages of the list, until no more items follow; there is at least one.
   *
   * To poll, keep the `next` of the last page, and continue from it later with `after`:
   * each item comes once, and none is missed.
   */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const { after = null, limit = 100, ...call } = this.#options;
    for (let cursor = after, more = true; more; ) {
      const query = { ...this.#query, limit: String(limit), ...(cursor && { after: cursor }) };
      const page: Page<T> = await this.#transport.request("GET", this.#path, { ...call, query });
      yield page;
      cursor = page.next;
      more = page.hasMore && cursor !== null;
    }
  }

  /** The items of the list, from all its pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) {
      yield* page.data;
    }
  }
}
