// What the clients have that is not made of the APIs' descriptions.

import { path } from "./transport.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type * as types from "./admin.gen.ts";

/** A client. */
export class Base {
  /** For operations that this client does not have yet. */
  readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }
}

/** A client that pulls, too. */
export class Pulling extends Base {
  protected readonly pull: Transport;

  constructor(transport: Transport, pull: Transport) {
    super(transport);
    this.pull = pull;
  }
}

/** Options of a single change. */
export interface ChangeOptions extends CallOptions {
  /** Who did it, for the audit entry, in 1 to 200 characters. Without it the entry has no actor. */
  actor?: string;
}

/** Options of a change of the instructions. */
export interface InstructionsOptions extends ChangeOptions {
  /** The `etag` that was read. If the instructions were changed meanwhile, the error is a `preconditionFailed`. */
  ifMatch?: string;
}

/** Makes a request with what its options say about it. */
export function send<T>(transport: Transport, method: string, path: string, body: unknown, options: InstructionsOptions = {}): Promise<T> {
  const { actor, ifMatch, ...call } = options;
  const headers = { ...(actor && { "Teamdata-Actor": actor }), ...(ifMatch && { "If-Match": ifMatch }), ...call.headers };
  return transport.request(method, path, { ...call, headers, body });
}

/** The operations of the admin API that return something else than an answer's JSON. */
export class AdminBase extends Base {
  /**
   * A consistent copy of the data file, as the body of the answer; `Teamdata-Backup-Size`
   * is its size. It is tried once. One copy is made at a time; meanwhile there is a `conflict`.
   */
  readBackup(options?: CallOptions): Promise<Response> {
    return this.transport.open("GET", "/backup", options);
  }

  /** The instructions to the assistant, and their `etag` for `ifMatch`. */
  async readInstructions(org: string, options: CallOptions = {}): Promise<types.Instructions & { etag: string }> {
    let etag = "";
    const onResponse = (response: Response) => {
      etag = response.headers.get("ETag") ?? "";
      options.onResponse?.(response);
    };
    const instructions = await this.transport.request<types.Instructions>("GET", path`/orgs/${org}/instructions`, { ...options, onResponse });
    return { ...instructions, etag };
  }

  /** Sends 1 to 1,000 events, all or none; the answer has the ids of the deliveries of each, in their order. */
  async sendEvents(org: string, events: types.NewEvent[], options?: ChangeOptions): Promise<string[][]> {
    const sent: types.SentEvents = await send(this.transport, "POST", path`/orgs/${org}/events/batch`, { events }, options);
    return sent.events.map((event) => event.deliveries);
  }
}
