import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { contexts, type Holding, type HttpExchange, propagatedHeaders, UNCOUNTED } from "../../operation/index.ts";
import type { Judgement, LegacyTarget } from "../../catalogue/index.ts";
import { adviceIn, contentCoding, mediaType } from "./answerHeaders.ts";
import { type RequestLine, UpstreamFailure } from "./failure.ts";
import { isOfGateway } from "./forwarding.ts";
import type { Upstream } from "./upstream.ts";
import { UpstreamRequest } from "./upstreamRequest.ts";

/** A request whose answer is collected. `headers` must not have accept-encoding, which `ask` sets. */
export type AskOptions = {
  method: string;
  path: string;
  headers: Record<string, string> | string[];
  body?: string | Buffer;
  maxBytes: number;
  /** Milliseconds for the whole call: waiting, connecting, reading. */
  totalTimeout: number;
  signal?: AbortSignal;
  exchange?: Pick<HttpExchange, "countCall"> | undefined;
  /** Reserves the answer's bytes in the budget, and keeps them. Without it they are released with the answer. */
  holding?: Holding | undefined;
  /** Accepts a coded answer: it is judged, and its bytes stay coded. Without it, a coded answer counts as broken. */
  takesCoded?: true;
  /** The segments of `path` below legacy's interface, if they are known: the answer is judged by them, too. */
  target?: Pick<LegacyTarget, "segments">;
};

/**
 * An answer with its whole body. `contentType`: empty if it has none. `isOfGateway`: another gateway wrote the answer.
 * `judgement`: what the answer shows about the upstream. `coding`: the body's coding, absent if it has none. `advice`:
 * the headers that tell its client what it may do next.
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
 * The number of chunks, and of their bytes, that are collected before they are joined. Many small chunks take more
 * memory than their bytes, and many of 64 KiB leave holes that the allocator does not give back to the system.
 */
const MAX_LOOSE = 1024;
const MAX_LOOSE_BYTES = 1024 ** 2;

/**
 * Sends a request with the `X-Request-Id` and trace context of the client's request, and collects its answer. A GET or
 * HEAD is sent again, once, if its connection was dead. The answer's bytes count in the budget until the answer is
 * returned, or in `holding`.
 *
 * @throws An `UpstreamFailure`; any other error is a fault of the gateway itself.
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
  /** The number of chunks that are the result of a join; `#looseBytes`: the bytes of the other chunks. */
  #joined = 0;
  #looseBytes = 0;
  /**
   * The whole body, filled chunk by chunk instead of joined at the end. It is used if a large body has a
   * Content-Length.
   */
  #whole: Buffer | undefined;
  /** Bytes that this answer has reserved in the budget for all answers. */
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

  /** Reserves the first `size` bytes of the answer in the budget; false if it has no room for them. */
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
    const judgement = this.judge({ status, headers, body }, this.#options.target);
    const [contentType, coding] = [mediaType(headers), contentCoding(headers) || undefined];
    const ofHeaders = { contentType, coding, isOfGateway: isOfGateway(headers), advice: adviceIn(headers) };
    super.onResponseEnd();
    // Anything thrown before this line fails the request.
    this.isOver = true;
    this.#resolve({ status, body, judgement, ...ofHeaders });
    if (this.#options.holding !== undefined) this.#taken = 0;
    this.#release();
  }

  /** Ends a request whose time is over. The caller is told even if a fault of the gateway has ended it silently. */
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

  /** Releases the bytes and the listener that the request holds until it is over. */
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
  const context = contexts.getStore();
  if (context !== undefined) headers.push(...propagatedHeaders(context));
  return Object.assign(
    { method: options.method, path: options.path, headers, body: options.body ?? null },
    { servername: upstream.servername },
  );
};
