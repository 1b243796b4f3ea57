import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import { codeOf, type RequestLine, type UpstreamFailure } from "../upstream/failure.ts";
import { exposeProxied } from "../http/cors.ts";
import { inContext, type RequestContext } from "../../operation/telemetry/exchange.ts";
import type { Meter } from "../../operation/telemetry/meter.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { UpstreamRequest } from "../upstream/upstreamRequest.ts";
import { addHeaders, reasonBytes, replyHeaders } from "./headers.ts";
import { cut, refuse, type Trouble, troubles } from "./refuse.ts";
import { heldAnswer, type ResponseObserver } from "./heldAnswer.ts";
import type { Upload } from "./upload.ts";

const commonStatuses = new Set(
  "200 201 204 206 301 302 304 400 401 403 404 405 409 412 413 416 429 500 502 503 504 other".split(" "),
);

/** `slowClient` -> `slow_client`. */
const labelOf = (trouble: string): string => trouble.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Counts proxied requests. */
type Counters = ReturnType<typeof openCounters>;

/** Registers the metrics of proxied requests. */
export const openCounters = (meter: Pick<Meter, "counter" | "histogram">) => {
  const requests = meter.counter("pass_through_requests_total", "Answers of legacy that passed through.", ["status"]);
  const failures = meter.counter("pass_through_failures_total", "Proxied requests without a whole answer of legacy.", [
    "reason",
  ]);
  const bytes = meter.counter("pass_through_bytes_total", "Bytes of the bodies of proxied requests and answers.", [
    "direction",
  ]);
  const took = meter.histogram(
    "pass_through_duration_seconds",
    "From a proxied request's arrival to the end of its answer.",
  )();
  for (const status of commonStatuses) requests(status);
  for (const trouble of Object.keys(troubles)) failures(labelOf(trouble));
  return {
    /** Bytes of bodies, from and to clients. */
    received: bytes("request"),
    sent: bytes("response"),
    /** The upstream, which chooses the status, has begun an answer with it. */
    answered: (status: number) => void requests(commonStatuses.has(String(status)) ? String(status) : "other").value++,
    /** A request is over after so many milliseconds, its whole answer sent or `trouble` with it. */
    over(ms: number, trouble?: Trouble): void {
      took.observe(ms / 1000);
      if (trouble !== undefined) failures(labelOf(trouble)).value++;
    },
  };
};

/** One request on its way: what the client sent, what goes to the upstream, and what failures are reported to. */
type Passage = {
  req: IncomingMessage;
  res: ServerResponse;
  context: RequestContext;
  request: Dispatcher.DispatchOptions & RequestLine;
  upload: Upload | undefined;
  observer: ResponseObserver | undefined;
  /** Headers to add to the answer. */
  added: readonly string[];
  counters: Counters;
  report: (request: RequestLine, context: RequestContext, trouble: Trouble, failure: UpstreamFailure) => void;
};

/** Bytes held for a slow client before the upstream is paused; one read's worth waits for the end of the tick and must not count. */
const held = 128 * 1024;

/** Smaller chunks are joined, those that come at a time: each write takes memory of its own while its client does not read. */
const SMALL = 1024;

/** Passes one request to the upstream and its answer back. */
export class Relay extends UpstreamRequest {
  readonly #passage: Passage;
  #uploading: NodeJS.Timeout | undefined;
  #flowing = false;
  /** Its body stopped coming. */
  #isSlow = false;
  /** Bytes of the body still to come; NaN where the length is unknown. */
  #remaining = Number.NaN;
  /** Parts of the body that are not written yet; after this turn of the event loop there are none. */
  readonly #chunks: Buffer[] = [];

  constructor(upstream: Upstream, passage: Passage) {
    super(upstream, passage.request);
    this.#passage = passage;
    if (passage.observer) this.handler = heldAnswer(this, passage.observer);
  }

  begin(): void {
    const { res, upload } = this.#passage;
    res.on("close", () => this.fail("aborted"));
    upload?.on("slow", () => {
      this.#isSlow = true;
      this.fail("timeout", false);
    });
    if (upload?.isSmall) upload.whenWhole(() => this.enter());
    else this.enter();
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    super.onRequestStart(controller);
    if (this.#passage.upload !== undefined)
      this.#uploading = setTimeout(() => this.#onUploadStall(), this.upstream.bodyTimeout);
  }

  onBodySent(): void {
    this.#uploading?.refresh();
  }

  onRequestSent(): void {
    clearTimeout(this.#uploading);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    reason = "",
  ): void {
    const { req, res, request, added, counters } = this.#passage;
    const raw = replyHeaders(controller.rawHeaders, headers.connection, status);
    if (status < 200) {
      // undici cannot be paused here, so that a client which reads nothing would have all of them kept in memory.
      if (!this.isInterimAllowed() || res.writableLength > held) return this.fail("broken");
      if (req.httpVersion !== "1.0") res.writeInformation(status, raw);
      return;
    }
    counters.answered(status);
    const coding = headers["transfer-encoding"];
    if (coding !== undefined && coding.toLowerCase() !== "chunked") return this.fail("broken");
    const length = headers["content-length"];
    if (length !== undefined && request.method !== "HEAD" && status !== 204 && status !== 304) {
      this.#remaining = Number(length);
    }
    addHeaders(raw, added);
    exposeProxied(raw);
    res.sendDate = false;
    res.writeHead(status, reasonBytes(reason), raw);
    // A body usually comes with the headers and is sent with them; where it does not, the client sees the headers now.
    queueMicrotask(() => {
      if (!this.#flowing && !this.isOver) res.flushHeaders();
    });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // An answer that was held may be over already, and then undici cannot give it up.
    if (this.isOver) return;
    this.#flowing = true;
    this.#passage.counters.sent.value += chunk.length;
    this.#remaining -= chunk.length;
    const count = this.#chunks.push(chunk);
    if (chunk.length >= SMALL || this.#remaining === 0) this.#write();
    else if (count === 1) queueMicrotask(() => this.#write());
  }

  #write(): void {
    const { res } = this.#passage;
    const [first] = this.#chunks;
    if (first === undefined || res.destroyed) return;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    if (this.#remaining === 0) {
      res.end(bytes);
    } else if (!res.write(bytes) && res.writableLength > held && this.controller?.paused === false) {
      this.controller.pause();
      // A client that takes nothing is cut off by the server (http/stalledClients.ts).
      res.once("drain", () => this.controller?.resume());
    }
  }

  override onResponseEnd(): void {
    const { res, counters, context } = this.#passage;
    this.#write();
    if (!this.isOver) counters.over(performance.now() - context.exchange.started);
    this.isOver = true;
    if (!res.writableEnded) res.end();
    super.onResponseEnd();
  }

  #onUploadStall(): void {
    const { req } = this.#passage;
    // An upload that is paused or has come waits for the upstream, any other for the client, who has a least rate.
    if (req.isPaused() || req.complete) this.fail("timeout");
    else this.#uploading?.refresh();
  }

  protected override onLeave(): void {
    const { request, context, res, upload } = this.#passage;
    const { exchange } = context;
    clearTimeout(this.#uploading);
    upload?.destroy();
    const ms = performance.now() - (this.startedAt ?? 0);
    exchange.countCall(ms);
    const { method, path } = request;
    const end = res.headersSent ? { status: res.statusCode, bytes: exchange.bytes } : { failure: "no answer" };
    // This runs on behalf of a connection, which another request may have opened.
    inContext(context, () => this.upstream.onCall?.({ method, path, ms, ...end }));
  }

  protected override onFailure(failure: UpstreamFailure): void {
    const { req, res, context, request, upload, added, report } = this.#passage;
    const isBad = codeOf(failure.cause) === "UND_ERR_INVALID_ARG";
    const trouble = isBad ? "badRequest" : this.#isSlow ? "slowClient" : failure.kind;
    upload?.destroy();
    this.#write();
    if (res.headersSent) {
      // Where the answer broke with its head, that is still here: a client is to see that there was an answer.
      if (!this.#flowing && !res.destroyed) res.flushHeaders();
      cut(res, res.chunkedEncoding || !Number.isNaN(this.#remaining));
    } else if (!res.destroyed) refuse(req, res, trouble, added);
    report(request, context, trouble, failure);
  }
}
