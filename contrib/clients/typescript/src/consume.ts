// Pulls events from an endpoint, verifies and handles them.

import type { Client } from "./client.gen.ts";
import type { LeasedDelivery, PulledDelivery } from "./pull.gen.ts";
import { NoAnswerError, TeamdataError } from "./transport.ts";
import type { CallOptions } from "./transport.ts";
import type { WebhookEvent, WebhookVerifier } from "./webhook.ts";

/** A delivery, beside the event in it. */
export interface Pulled {
  /** The three headers of a webhook, to pass the event on. */
  headers: Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;
  /** The body of the event, byte for byte. */
  body: string;
  /** Ends when the handler has to: `graceSeconds` after the consumer's own. */
  signal: AbortSignal;
}

/** From which endpoint events are pulled, and what handles them. `Own` are the event types that the operator has registered. */
export interface Consumer<Own extends { type: string } = never> {
  /** The id of an endpoint of the kind `pull`, such as `whe_1`. */
  endpoint: string;
  /** Verifies each delivery with the secrets of the endpoint. */
  verifier: WebhookVerifier;
  /**
   * Handles an event. When it is done, the delivery is acknowledged. If it throws, the
   * delivery is given back with that as the reason, and comes again by the schedule of
   * retries: after 1, 5, 25, 125 and 625 minutes. An event may come more than once; skip
   * an `id` that was handled.
   */
  handle(event: (WebhookEvent | Own) & { id: string }, pulled: Pulled): unknown;
  /** Stops the consumer. */
  signal?: AbortSignal;
  /**
   * How many events are handled at once, 1 to 100; the default is 1, with which they are
   * handled in the order of their commits, but for those that come again.
   */
  parallel?: number;
  /**
   * How many deliveries a pull has at most, 1 to 100, which is the default. The first asks
   * for as many as are handled at once, and the next for twice as many while they are
   * handled within a second: slow handlers leave the rest to other consumers.
   */
  limit?: number;
  /**
   * For how long a delivery is this consumer's, in whole seconds, 5 to 3,600; the default is
   * 60. It is extended when half of it is over, until the event is handled. If the consumer
   * is gone, its deliveries come again when their leases end.
   */
  leaseSeconds?: number;
  /** How long handlers may take to finish when the consumer stops, in seconds; the default is 20. */
  graceSeconds?: number;
  /** Is called with each delivery that is given back, and why: what `handle` threw, or a `NotVerifiedError`. */
  refused?(pulled: Pulled, error: unknown): void;
  /** Is called before a pull is made again, with the error of the last one. If it returns false, `consume` throws that. */
  retrying?(error: unknown, waitMs: number): boolean | void;
}

/**
 * Pulls events from an endpoint, verifies and handles them, until the signal. The key of the
 * client needs the scope `receive`.
 *
 * What was handled is acknowledged by the next pull, or after a second if that one waits. A
 * pull without an answer, or answered with 429 or a status of 500 and above, is made again:
 * after the server's `Retry-After`, or else after 0.5 s, 1 s, 2 s and so on up to a minute,
 * each shortened at random by up to a half; so is one that is a `conflict`, by which an
 * endpoint that was disabled meanwhile is waited for.
 *
 * After the signal nothing more is pulled; what is being handled is finished and
 * acknowledged, and the rest comes again within 5 s, to any consumer. It throws if that took
 * longer than `graceSeconds` and 10 s more, or at once if something is wrong that waiting
 * does not cure: a setting is a `RangeError`, an answer a `TeamdataError`, such as
 * `unauthorized` when the key was revoked.
 */
export async function consume<Own extends { type: string } = never>(client: Client, consumer: Consumer<Own>): Promise<void> {
  return new Consuming<Own>(client, consumer).run();
}

const pullWaitSeconds = 30; // for the first delivery: a line that was cut is noticed soon after
const callTimeoutMs = 15_000; // for an answer, beyond a pull's wait
const firstWaitMs = 500;
const longestWaitMs = 60_000;
const ackAfterMs = 1000; // when what was handled is acknowledged without a pull
const lastCallsMs = 10_000; // what the last requests may take, beyond the grace
const minLeaseSeconds = 5;
const maxAcked = 1000; // deliveries in a request
const maxExtended = 100;
const maxReason = 300; // characters

/** A delivery that was pulled. */
interface Taken<Own extends { type: string }> extends LeasedDelivery {
  event?: (WebhookEvent | Own) & { id: string };
  pulled: Pulled;
  until: number; // when its lease ends
  queued: boolean;
  giving: boolean; // it is being given back
  ended: boolean; // the lease
}

/** A running `consume`: starts what is to be done, and goes on with what became of it. Times are those of a steady clock, in ms. */
class Consuming<Own extends { type: string }> {
  readonly #client: Client;
  readonly #consumer: Consumer<Own>;
  readonly #parallel: number;
  readonly #limit: number;
  readonly #leaseSeconds: number;
  readonly #graceMs: number;

  readonly #pulls = new AbortController();
  readonly #handling = new AbortController();
  readonly #rest = new AbortController(); // ends the other requests

  readonly #held = new Map<string, Taken<Own>>(); // pulled, and neither handled nor given back
  #queue: Taken<Own>[] = []; // those that no handler has yet
  #running = 0; // handlers
  #acks: string[] = []; // handled, to be sent
  readonly #unconfirmed = new Set<string>(); // handled, which the server may not know

  #pulling = false;
  #acking = false;
  #extending = false;
  #returning = 0; // requests that give deliveries back
  #begun = false; // whether a pull has succeeded
  #asked: number; // how many deliveries the last pull asked for
  #filled: number | undefined; // when it was answered with as many
  #failures = 0; // of pulls and acknowledgments, since one succeeded
  #pullAt = 0;
  #ackAt = 0;
  #extendAt = 0;

  #stopped: number | undefined;
  #reason: { error: unknown } | undefined; // why it stopped, if not by the signal
  #failed: unknown; // why the last acknowledgment failed
  #useless = false; // to send it again
  #woken = false;
  #wakeUp: () => void = () => {};

  constructor(client: Client, consumer: Consumer<Own>) {
    this.#client = client;
    this.#consumer = consumer;
    this.#parallel = within("parallel", consumer.parallel ?? 1, 1, 100);
    this.#limit = within("limit", consumer.limit ?? 100, 1, 100);
    this.#asked = Math.min(this.#parallel, this.#limit);
    this.#leaseSeconds = within("leaseSeconds", consumer.leaseSeconds ?? 60, minLeaseSeconds, 3600);
    this.#graceMs = 1000 * within("graceSeconds", consumer.graceSeconds ?? 20, 0, 3600);
  }

  async run(): Promise<void> {
    const { signal } = this.#consumer;
    const stop = () => this.#stop();
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) {
      stop();
    }
    try {
      for (;;) {
        this.#handleNext();
        this.#request(performance.now());
        if (this.#over(performance.now())) {
          return this.#outcome();
        }
        await this.#news();
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#pulls.abort();
      this.#rest.abort();
    }
  }

  /** Waits until something has become of what was started, or the next thing is due. */
  async #news(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, this.#next() - performance.now()));
        this.#wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#woken = false;
  }

  /** Does something while the loop goes on. */
  #start(something: () => Promise<void>): void {
    something()
      .catch((error) => this.#stop({ error })) // of a function of the consumer
      .finally(() => {
        this.#woken = true;
        this.#wakeUp();
      });
  }

  #request(now: number): void {
    if (this.#acks.length > 0 && !this.#acking && !this.#useless && now >= this.#ackAt) {
      this.#acknowledge();
    }
    if (this.#hungry() && now >= this.#pullAt) {
      this.#pull();
    }
    if (now >= this.#extension()) {
      this.#extend();
    }
    if (this.#stopped !== undefined && now >= this.#stopped + this.#graceMs) {
      this.#handling.abort();
    }
  }

  #hungry(): boolean {
    return this.#stopped === undefined && !this.#pulling && this.#queue.length === 0 && this.#running < this.#parallel;
  }

  /** When there is something to do. */
  #next(): number {
    let next = performance.now() + 3_600_000;
    if (this.#hungry()) {
      next = Math.min(next, this.#pullAt);
    }
    if (this.#acks.length > 0 && !this.#acking && !this.#useless) {
      next = Math.min(next, this.#ackAt);
    }
    if (this.#stopped !== undefined) {
      next = Math.min(next, this.#stopped + this.#graceMs + (this.#handling.signal.aborted ? lastCallsMs : 0));
    }
    return Math.min(next, this.#extension());
  }

  #stop(reason?: { error: unknown }): void {
    if (this.#stopped !== undefined) {
      return;
    }
    this.#stopped = performance.now();
    this.#reason = reason;
    this.#ackAt = 0;
    this.#pulls.abort();
    this.#release();
    this.#woken = true;
    this.#wakeUp();
  }

  #over(now: number): boolean {
    if (this.#stopped === undefined) {
      return false;
    }
    const acks = this.#acks.length > 0 && !this.#useless;
    const busy = this.#running > 0 || this.#returning > 0 || this.#pulling || this.#acking || acks;
    return !busy || now >= this.#stopped + this.#graceMs + lastCallsMs;
  }

  #outcome(): void {
    if (this.#reason) {
      throw this.#reason.error;
    }
    if (this.#running > 0) {
      throw new Error(`${this.#running} handlers did not end in time; their events come again`);
    }
    if (this.#unconfirmed.size > 0) {
      throw new Error(`${this.#unconfirmed.size} events were handled, may not have been acknowledged, and may come again`, { cause: this.#failed });
    }
  }

  #handleNext(): void {
    while (this.#stopped === undefined && this.#running < this.#parallel && this.#queue.length > 0) {
      const taken = this.#queue.shift()!;
      taken.queued = false;
      this.#running++;
      this.#start(async () => {
        try {
          await this.#consumer.handle(taken.event!, taken.pulled);
        } catch (error) {
          this.#giveBack(taken, error);
          return;
        } finally {
          this.#running--;
        }
        this.#held.delete(taken.id);
        if (this.#acks.length === 0 && this.#stopped === undefined) {
          this.#ackAt = Math.max(this.#ackAt, performance.now() + ackAfterMs);
        }
        this.#acks.push(taken.id);
        this.#unconfirmed.add(taken.id);
      });
    }
  }

  /** Pulls, and acknowledges what was handled meanwhile. */
  #pull(): void {
    const ack = this.#takeAcks();
    const began = performance.now();
    this.#pulling = true;
    this.#asked = this.#nextLimit(began);
    this.#start(async () => {
      try {
        const pull = { limit: this.#asked, waitSeconds: pullWaitSeconds, leaseSeconds: this.#leaseSeconds, ack };
        const found = await this.#client.pullDeliveries(this.#consumer.endpoint, pull, { retries: 0, timeoutMs: 1000 * pullWaitSeconds + callTimeoutMs, signal: this.#pulls.signal });
        const until = performance.now() + 1000 * this.#leaseSeconds;
        this.#acknowledged(ack, []);
        this.#begun = true;
        this.#filled = found.length === pull.limit ? performance.now() : undefined;
        for (const delivery of found) {
          await this.#take(delivery, until);
        }
        if (found.length === 0 && performance.now() - began < firstWaitMs) {
          this.#pullAt = performance.now() + firstWaitMs * (1 - Math.random() / 2); // a server that stops does not wait
        }
        if (this.#stopped !== undefined) {
          this.#release();
        }
      } catch (error) {
        this.#acknowledged(ack, ack, error);
        this.#pullFailed(error, ack.length > 0);
      } finally {
        this.#pulling = false;
      }
    });
  }

  /** How many deliveries a pull asks for. Those of the last one have been handled, or are being so. */
  #nextLimit(now: number): number {
    const tookMs = now - (this.#filled ?? now - 1500);
    if (tookMs < 1000) {
      return Math.min(2 * this.#asked, this.#limit);
    }
    return tookMs > 2000 ? Math.max(this.#asked >> 1, Math.min(this.#parallel, this.#limit)) : this.#asked;
  }

  #pullFailed(error: unknown, acked: boolean): void {
    if (this.#pulls.signal.aborted) {
      return;
    }
    const wrongAck = acked && has(error, "badRequest");
    if (wrongAck || has(error, "conflict")) {
      this.#ackAt = 0; // acknowledged apart, which finds what is wrong
    }
    const waitMs = wrongAck ? firstWaitMs : this.#waitAfter(error);
    if (waitMs === undefined || this.#consumer.retrying?.(error, waitMs) === false) {
      this.#stop({ error });
      return;
    }
    this.#failures++;
    this.#pullAt = performance.now() + waitMs;
    if (this.#ackAt > 0) {
      this.#ackAt = Math.max(this.#ackAt, this.#pullAt + ackAfterMs); // with the next pull, if it comes soon
    }
  }

  /** How long to wait after a request failed; undefined: for ever. */
  #waitAfter(error: unknown): number | undefined {
    const waitMs = Math.min(firstWaitMs * 2 ** this.#failures, longestWaitMs) * (1 - Math.random() / 2);
    if (error instanceof NoAnswerError) {
      return waitMs;
    }
    if (!(error instanceof TeamdataError)) {
      return undefined;
    }
    const disabled = error.code === "conflict" && this.#begun;
    if (!disabled && error.status !== 429 && error.status < 500) {
      return undefined;
    }
    return error.retryAfter ? 1000 * error.retryAfter + firstWaitMs * Math.random() : waitMs;
  }

  /**
   * Queues a delivery that was pulled. One that is still here, since its lease ended in between, goes on with the new
   * one, unless it is being given back: it was, and comes again before the answer that says so.
   */
  async #take(delivery: PulledDelivery, until: number): Promise<void> {
    const { id, lease } = delivery;
    if (this.#unconfirmed.has(id)) {
      return;
    }
    const here = this.#held.get(id);
    if (here && !here.giving) {
      Object.assign(here, { lease, until, ended: false });
      return;
    }
    const taken: Taken<Own> = { id, lease, until, pulled: this.#pulledOf(delivery), queued: false, giving: false, ended: false };
    this.#held.set(id, taken);
    if (await this.#verified(taken)) {
      taken.queued = true;
      this.#queue.push(taken);
    }
  }

  #pulledOf(delivery: PulledDelivery): Pulled {
    const headers = { "webhook-id": delivery.id, "webhook-timestamp": delivery.timestamp, "webhook-signature": delivery.signature };
    return { headers, body: delivery.body, signal: this.#handling.signal };
  }

  /** Reads the event of a delivery, and gives back one that does not verify. */
  async #verified(taken: Taken<Own>): Promise<boolean> {
    try {
      taken.event = await this.#consumer.verifier.verify<Own>(taken.pulled.headers, taken.pulled.body);
      return true;
    } catch (error) {
      this.#giveBack(taken, error);
      return false;
    }
  }

  #takeAcks(): string[] {
    return this.#acks.splice(0, maxAcked);
  }

  /** Notes what became of acknowledgments: those that are left are sent again. */
  #acknowledged(ids: string[], left: string[], error?: unknown): void {
    ids.forEach((id) => this.#unconfirmed.delete(id));
    left.forEach((id) => this.#unconfirmed.add(id));
    this.#acks.unshift(...left);
    this.#failed = error;
    if (error === undefined) {
      this.#failures = 0;
      this.#ackAt = this.#acks.length > 0 && this.#stopped === undefined ? performance.now() + ackAfterMs : 0;
    }
  }

  /** Acknowledges without a pull. */
  #acknowledge(): void {
    const ids = this.#takeAcks();
    this.#acking = true;
    this.#start(async () => {
      const { left, error } = await this.#ack(ids);
      this.#acking = false;
      this.#acknowledged(ids, left, error);
      if (error === undefined) {
        return;
      }
      const waitMs = this.#waitAfter(error);
      this.#failures++;
      this.#ackAt = performance.now() + (waitMs ?? 0);
      if (waitMs === undefined) {
        this.#useless = true;
        this.#stop({ error });
      }
    });
  }

  /** Acknowledges deliveries but those that the endpoint does not have any more, and returns which are left. */
  async #ack(ids: string[]): Promise<{ left: string[]; error?: unknown }> {
    try {
      await this.#client.ackDeliveries(this.#consumer.endpoint, ids, this.#once());
      return { left: [] };
    } catch (error) {
      if (!has(error, "badRequest")) {
        return { left: ids, error };
      }
    }
    if (ids.length === 1) {
      return { left: [] };
    }
    const half = ids.length >> 1;
    const first = await this.#ack(ids.slice(0, half));
    const second = await this.#ack(ids.slice(half));
    return { left: [...first.left, ...second.left], error: first.error ?? second.error };
  }

  #once(): CallOptions {
    return { retries: 0, timeoutMs: callTimeoutMs, signal: this.#rest.signal };
  }

  /** Refuses a delivery. If that is not told, it comes again when its lease ends. */
  #giveBack(taken: Taken<Own>, error: unknown): void {
    const { id, lease } = taken;
    taken.giving = true;
    this.#returning++;
    this.#start(async () => {
      try {
        this.#consumer.refused?.(taken.pulled, error);
        const nack = { deliveries: [{ id, lease }], reason: reasonOf(error) };
        await this.#client.nackDeliveries(this.#consumer.endpoint, nack, { signal: this.#rest.signal });
      } catch {
        // it comes again
      } finally {
        this.#returning--;
        if (this.#held.get(id) === taken) {
          this.#held.delete(id);
        }
      }
    });
  }

  /** When leases are to be extended. */
  #extension(): number {
    let at = Infinity;
    for (const { until, giving, ended } of this.#held.values()) {
      if (!giving && !ended) {
        at = Math.min(at, until - 500 * this.#leaseSeconds);
      }
    }
    return this.#extending ? Infinity : Math.max(at, this.#extendAt);
  }

  /** Extends the leases of all that is held. */
  #extend(): void {
    const leases = [...this.#held.values()].filter(({ giving, ended }) => !giving && !ended).map(({ id, lease }) => ({ id, lease }));
    this.#extending = true;
    this.#start(async () => {
      const { extended, ended, error } = await this.#extendThose(leases, this.#leaseSeconds);
      const until = performance.now() + 1000 * this.#leaseSeconds;
      this.#extending = false;
      for (const delivery of extended) {
        await this.#extended(delivery, until);
      }
      ended.forEach((lease) => this.#ended(lease));
      if (error !== undefined) {
        this.#extendAt = performance.now() + Math.min(ackAfterMs, 100 * this.#leaseSeconds);
      }
    });
  }

  /** Extends leases, and returns those that had ended. */
  async #extendThose(leases: LeasedDelivery[], leaseSeconds: number): Promise<{ extended: PulledDelivery[]; ended: LeasedDelivery[]; error?: unknown }> {
    const halves = async (size: number) => {
      const first = await this.#extendThose(leases.slice(0, size), leaseSeconds);
      const second = await this.#extendThose(leases.slice(size), leaseSeconds);
      return { extended: [...first.extended, ...second.extended], ended: [...first.ended, ...second.ended], error: first.error ?? second.error };
    };
    if (leases.length > maxExtended) {
      return halves(maxExtended);
    }
    try {
      const extended = await this.#client.extendLeases(this.#consumer.endpoint, { deliveries: leases, leaseSeconds }, this.#once());
      return { extended, ended: [] };
    } catch (error) {
      if (!has(error, "conflict") && !has(error, "badRequest")) {
        return { extended: [], ended: [], error };
      }
    }
    return leases.length === 1 ? { extended: [], ended: leases } : halves(leases.length >> 1); // all or none: the halves tell which
  }

  /** Notes that a lease was extended, and takes the new signature for what waits here. */
  async #extended(delivery: PulledDelivery, until: number): Promise<void> {
    const taken = this.#held.get(delivery.id);
    if (!taken || taken.lease !== delivery.lease) {
      return;
    }
    taken.until = until;
    if (taken.queued) {
      taken.pulled = this.#pulledOf(delivery);
      if (!(await this.#verified(taken))) {
        this.#unqueue(taken);
      }
    }
  }

  /** Notes that a lease has ended: what was not begun is somebody else's, and the rest may be acknowledged late. */
  #ended({ id, lease }: LeasedDelivery): void {
    const taken = this.#held.get(id);
    if (!taken || taken.lease !== lease) {
      return;
    }
    taken.ended = true;
    if (taken.queued) {
      this.#unqueue(taken);
      this.#held.delete(id);
    }
  }

  #unqueue(taken: Taken<Own>): void {
    taken.queued = false;
    this.#queue = this.#queue.filter((other) => other !== taken);
  }

  /** Lets the leases end soon of what nobody has begun to handle. */
  #release(): void {
    const leases = this.#queue.map(({ id, lease }) => ({ id, lease }));
    this.#queue = [];
    leases.forEach(({ id }) => this.#held.delete(id));
    if (leases.length === 0) {
      return;
    }
    this.#returning++;
    this.#start(async () => {
      await this.#extendThose(leases, minLeaseSeconds);
      this.#returning--;
    });
  }
}

function has(error: unknown, code: string): boolean {
  return error instanceof TeamdataError && error.code === code;
}

function within(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} is ${value}; it must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** The text of an error, as a reason may be. */
function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, " ").replace(/\p{Cs}/gu, "\uFFFD").trim();
  const characters = [...text];
  return characters.length > maxReason ? characters.slice(0, maxReason - 1).join("") + "…" : characters.join("");
}
