import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import {
  currentContext,
  type Holding,
  type HttpExchange,
  propagatedHeaders,
  UNCOUNTED,
} from "../../operation/index.ts";
import type { Judgement } from "../../catalogue/index.ts";
import { adviceIn, contentCoding, mediaType } from "./answerHeaders.ts";
import { type RequestLine, UpstreamFailure } from "./failure.ts";
import { isOfGateway } from "./forwarding.ts";
import type { Upstream } from "./upstream.ts";
import { UpstreamRequest } from "./upstreamRequest.ts";

/** One request whose answer is collected. `headers` must not have accept-encoding, which `ask` sets. */
export type AskOptions = {
  method: string;
  path: string;
  headers: Record<string, string> | string[];
  body?: string | Buffer;
  maxBytes: number;
  /** Milliseconds for everything: waiting, connecting, reading. */
  totalTimeout: number;
  signal?: AbortSignal;
  exchange?: Pick<HttpExchange, "countCall"> | undefined;
  /** Takes the answer's bytes of the budget, and keeps them; without it they are given back with the answer. */
  holding?: Holding | undefined;
  /** A coded answer is not broken: it is judged, and its bytes stay coded. */
  takesCoded?: true;
};

/**
 * An answer with its whole body. `contentType` is empty where it has none. `isOfGateway`: another gateway gave it.
 * `judgement`: what it shows of the upstream. `coding`: of its body, absent where it has none. `advice`: its headers
 * that say to its client what it may do next.
 */
export type UpstreamReply = {
  status: number;
  contentType: string;
  body: Buffer;
  isOfGateway: boolean;
  judgement?: Judgement | undefined;
  coding?: string | undefined;
  advice?: Readonly<Record<string, string>> | undefined;
};

/**
 * Chunks, and their bytes, that are collected before they are joined. Many small chunks take more memory than their
 * bytes, and many of 64 KiB leave holes behind that the allocator does not give back to the system.
 */
const MAX_LOOSE = 1024;
const MAX_LOOSE_BYTES = 1024 ** 2;

/**
 * Sends a request, with `X-Request-Id` and trace context of the client's that it is for, and collects its answer. A
 * GET or HEAD is sent once more where its connection was dead. The answer's bytes count in the budget until it is
 * returned, or in the holding.
 *
 * @throws An `UpstreamFailure`; any other error is a fault of the gateway's own.
 */
export const ask = async (upstream: Upstream, options: AskOptions): Promise<UpstreamReply> => {
  const started = performance.now();
  const { method, path } = options;
  let end: { status: number; bytes: number } | { failure: string } = { failure: "broken" };
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamReply>();
  const request = new CollectedRequest(upstream, options, resolve, reject);
  // Only the end of the call clears it.
  const deadline = setTimeout(() => request.endLate(), options.totalTimeout);
  try {
    request.begin();
    const reply = await promise;
    end = { status: reply.status, bytes: reply.body.length };
    return reply;
  } catch (error) {
    if (error instanceof UpstreamFailure) end = { failure: error.kind };
    throw error;
  } finally {
    clearTimeout(deadline);
    const ms = performance.now() - started;
    options.exchange?.countCall(ms);
    upstream.onCall?.({ method, path, ms, ...end });
  }
};

class CollectedRequest extends UpstreamRequest {
  readonly #options: AskOptions;
  readonly #resolve: (reply: UpstreamReply) => void;
  readonly #reject: (error: unknown) => void;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #size = 0;
  /** Of the chunks, those that have been joined, and the bytes of the others. */
  #joined = 0;
  #looseBytes = 0;
  /**
   * The whole body, filled as it comes, where a large one has a Content-Length: then it is copied
   * bit by bit, not at its end.
   */
  #whole: Buffer | undefined;
  /** Bytes taken of the budget for all answers. */
  #taken = 0;

  constructor(
    upstream: Upstream,
    options: AskOptions,
    resolve: (reply: UpstreamReply) => void,
    reject: (error: unknown) => void,
  ) {
    super(upstream, requestOf(upstream, options));
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    if (this.#options.signal?.aborted === true) return this.fail("aborted");
    this.#options.signal?.addEventListener("abort", this.#abort);
    this.enter();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      if (!this.isInterimAllowed(status, headers)) this.fail("broken");
      return;
    }
    if (contentCoding(headers) !== "" && this.#options.takesCoded !== true) return this.fail("broken");
    const hasBody = this.#options.method !== "HEAD" && status !== 204 && status !== 304;
    if (hasBody && Number(headers["content-length"]) > this.#options.maxBytes) return this.fail("tooLarge");
    const length = hasBody ? Number(headers["content-length"] ?? 0) : 0;
    if (!this.#reserve(length)) return this.fail("crowded");
    if (length > UNCOUNTED) this.#whole = Buffer.allocUnsafeSlow(length);
    this.#status = status;
    this.#headers = headers;
  }

  /** Takes a place for the first `size` bytes of the answer; false where there is none. */
  #reserve(size: number): boolean {
    const more = size - UNCOUNTED - this.#taken;
    if (this.isOver || !(more > 0)) return true;
    const { holding } = this.#options;
    if (!(holding?.takeAnswer(more) ?? this.upstream.memory.take(more))) return false;
    this.#taken += more;
    return true;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.#size += chunk.length;
    if (this.#size > this.#options.maxBytes) return this.fail("tooLarge");
    if (!this.#reserve(this.#size)) return this.fail("crowded");
    if (this.#whole !== undefined) return void chunk.copy(this.#whole, this.#size - chunk.length);
    this.#chunks.push(chunk);
    this.#looseBytes += chunk.length;
    if (this.#looseBytes >= MAX_LOOSE_BYTES || this.#chunks.length - this.#joined > MAX_LOOSE) this.#join();
  }

  #join(): void {
    const loose = this.#chunks.splice(this.#joined);
    this.#joined = this.#chunks.push(Buffer.concat(loose, this.#looseBytes));
    this.#looseBytes = 0;
  }

  override onResponseEnd(): void {
    if (this.isOver) return super.onResponseEnd();
    const [first] = this.#chunks;
    const body =
      this.#whole ??
      (first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size));
    const status = this.#status;
    const headers = this.#headers;
    const judgement = this.judge({ status, headers, body });
    const [contentType, coding] = [mediaType(headers), contentCoding(headers) || undefined];
    const ofHeaders = { contentType, coding, isOfGateway: isOfGateway(headers), advice: adviceIn(headers) };
    super.onResponseEnd();
    // What throws until here is its failure.
    this.isOver = true;
    this.#resolve({ status, body, judgement, ...ofHeaders });
    if (this.#options.holding !== undefined) this.#taken = 0;
    this.#release();
  }

  /** Its time is over. It is told also where code of the gateway has ended it without a word. */
  endLate(): void {
    try {
      this.fail("timeout");
    } finally {
      this.#reject(new UpstreamFailure("timeout", this.request));
    }
  }

  readonly #abort = (): void => this.fail("aborted");

  protected override onFailure(failure: UpstreamFailure): void {
    this.#reject(failure.kind === "fault" ? failure.cause : failure);
    this.#chunks = [];
    this.#whole = undefined;
    this.#release();
  }

  /** Lets go of what is held until it is over. */
  #release(): void {
    if (this.#taken > 0) (this.#options.holding ?? this.upstream.memory).release(this.#taken);
    this.#taken = 0;
    this.#options.signal?.removeEventListener("abort", this.#abort);
  }
}

const requestOf = (upstream: Upstream, options: AskOptions): Dispatcher.DispatchOptions & RequestLine => {
  const headers = ["accept-encoding", "identity"];
  if (Array.isArray(options.headers)) for (const text of options.headers) headers.push(text);
  else for (const name of Object.keys(options.headers)) headers.push(name, options.headers[name] ?? "");
  const context = currentContext();
  if (context !== undefined) headers.push(...propagatedHeaders(context));
  return Object.assign(
    { method: options.method, path: options.path, headers, body: options.body ?? null },
    { servername: upstream.servername },
  );
};
