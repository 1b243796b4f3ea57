import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import {
  contexts,
  exchangeOf,
  type HttpExchange,
  type Observer,
  propagatedHeaders,
  type RequestContext,
  runStep,
  steps,
} from "../../operation/index.ts";
import type { Judgement } from "../../catalogue/index.ts";
import { exposeProxied } from "../http/cors.ts";
import type { Step } from "../http/step.ts";
import { type Beginning, noBytes } from "../upstream/answerBeginning.ts";
import { firstValue } from "../upstream/answerHeaders.ts";
import { codeOf, type FailureKind, type RequestLine, UpstreamFailure } from "../upstream/failure.ts";
import { isLoop } from "../upstream/forwarding.ts";
import type { NoteLoop } from "../upstream/loops.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { UpstreamRequest } from "../upstream/upstreamRequest.ts";
import { AnswerBody, MAX_WAITING_BYTES } from "./answerBody.ts";
import { addHeaders, reasonBytes, replyHeaders, requestHeaders } from "./headers.ts";
import { HeldAnswer, type ResponseObserver } from "./heldAnswer.ts";
import { hasBody } from "../http/requestTarget.ts";
import { refuse } from "./refuse.ts";
import { openProxyReport, type ProxyReport } from "./report.ts";
import { Upload } from "./upload.ts";

/**
 * `host` replaces the client's Host. `trusted`: true for peers whose X-Forwarded-* headers are trusted. `observer` gets
 * each failure once.
 */
export type PassThroughOptions = {
  host?: string | undefined;
  trusted: (address: string) => boolean;
  observer: Pick<Observer, "event" | "fault">;
  meter: Parameters<typeof openProxyReport>[0];
  noteLoop: NoteLoop;
  observe?: (exchange: HttpExchange, req: IncomingMessage) => ResponseObserver | undefined;
  /** Each function returns a flat list of headers to add to the answer, whether it is the upstream's or ours. */
  headers: readonly ((exchange: HttpExchange) => readonly string[] | undefined)[];
  /**
   * The default substitute, for callers of `pass` that give none. It may also answer the request at once.
   */
  substituteFor?: (req: IncomingMessage, res: ServerResponse, target: string) => Substitute | undefined;
};

/**
 * Gets the beginning of an answer before the client does; `undefined`: no answer has come. True: it has answered the
 * client, and the upstream's answer is dropped. If it returns `undefined`, the client gets that answer at once.
 */
export type Substitute = (
  answer: (Beginning & { judgement: Judgement | undefined }) | undefined,
) => Promise<boolean> | undefined;

/** Passes a request to the upstream. */
export type Pass = (substitute?: Substitute) => void;

/** The steps of a request to the upstream. */
type PassThrough = {
  /** Marks the request as proxied, and refuses a loop. */
  begin: Step;
  /** Passes the request to the upstream; there is no next step. */
  pass: (...args: [...Parameters<Step>, substitute?: Substitute]) => void;
};

/**
 * Passes requests to an upstream and its answers back, unchanged and streaming. `uploads`: connections to the same
 * upstream for requests with a large body, whose clients may hold a connection for long. `src/gateway/http` has read
 * target and host of the requests: `url` is in origin form, `headers.host` is the host of the target.
 */
export const passThrough = (plain: Upstream, uploads: Upstream, options: PassThroughOptions): PassThrough => {
  const report = openProxyReport(options.meter, options.observer);
  const addedTo = (exchange: HttpExchange): string[] => {
    const added: string[] = [];
    for (const headersFor of options.headers) added.push(...(headersFor(exchange) ?? []));
    return added;
  };
  return {
    begin(req, res, next) {
      const context = contextOf(res);
      context.exchange.isProxied = true;
      const { via } = req.headers;
      if (via === undefined || !isLoop(via)) return next();
      const { method = "GET", url: path = "/" } = req;
      refuse(res, { trouble: "loop", added: addedTo(context.exchange) });
      options.noteLoop(via);
      report.failed({ method, path }, context, "loop");
    },
    pass(req, res, _next, substitute = options.substituteFor?.(req, res, req.url ?? "/")) {
      if (res.headersSent) return;
      const { method = "GET", url: path = "/" } = req;
      const line = { method, path };
      const context = contextOf(res);
      const added = addedTo(context.exchange);
      if (res.destroyed || req.socket.destroyed)
        return report.failed(line, context, "aborted", new UpstreamFailure("aborted", line));
      const observer = options.observe?.(context.exchange, req);
      const onChunk = (chunk: Buffer): void => {
        report.received.value += chunk.length;
        observer?.chunk(chunk);
      };
      const upload = hasBody(req) ? new Upload(req, { period: uploads.bodyTimeout, onChunk }) : undefined;
      const upstream = upload?.isSmall === false ? uploads : plain;
      const pass = (): void => {
        const own = propagatedHeaders(contexts.getStore() ?? context);
        const headers = requestHeaders(req, options.host, options.trusted, own);
        const request = { method, path, headers, body: upload ?? null, servername: upstream.servername };
        new Relay(upstream, {
          req,
          res,
          context,
          request,
          upload,
          report,
          observer,
          added,
          substitute,
        }).begin();
      };
      if (!steps.hasSubscribers) return pass();
      runStep("legacy", { "catalog_gateway.proxied": "true" }, () => {
        const over = new Promise<void>((resolve) => void res.once("close", resolve));
        pass();
        return over;
      }).catch(report.fault);
    },
  };
};

const contextOf = (res: ServerResponse): RequestContext => contexts.getStore() ?? { exchange: exchangeOf(res) };

/** A proxied request: the client's request and response, the request to the upstream, and the observers of both. */
type Passage = {
  req: IncomingMessage;
  res: ServerResponse;
  context: RequestContext;
  request: Dispatcher.DispatchOptions & RequestLine;
  upload: Upload | undefined;
  observer: ResponseObserver | undefined;
  /** Headers to add to the answer. */
  added: readonly string[];
  substitute: Substitute | undefined;
  report: ProxyReport;
};

/** Failures in which the upstream gave no answer: a substitute may answer instead. */
const noAnswer: ReadonlySet<FailureKind> = new Set(["unreachable", "timeout", "broken", "overloaded", "crowded"]);

/** Passes a request to the upstream and its answer back. The methods are in the order in which they are called. */
class Relay extends UpstreamRequest {
  readonly #passage: Passage;
  /** The body of the final answer; it is set as soon as the head has come. */
  #body: AnswerBody | undefined;
  #head: Omit<Beginning, "body"> | undefined;

  constructor(upstream: Upstream, passage: Passage) {
    super(upstream, passage.request);
    this.#passage = passage;
    const { observer, substitute, report } = passage;
    const over = substitute && ((answer: Beginning | undefined) => answer && this.#offer(answer, substitute));
    const holder = observer ?? (over && { over });
    if (holder) this.handler = new HeldAnswer(this, holder, report.fault);
  }

  begin(): void {
    const { res, upload } = this.#passage;
    res.on("close", () => {
      if (this.isOver) return;
      if (this.#body !== undefined || !res.headersSent) this.fail("aborted");
      else this.#giveUpReplaced();
    });
    upload?.on("slow", () => this.fail("timeout", false)).on("stalled", () => this.fail("timeout"));
    if (upload?.isSmall) upload.whenWhole(() => this.enter());
    else this.enter();
  }

  /** Gives up the request: a head that is not the upstream's shows that another answer has been sent instead. */
  #giveUpReplaced(): void {
    const { report, context } = this.#passage;
    report.over(context);
    this.giveUp();
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    super.onRequestStart(controller);
    this.#passage.upload?.onSending();
  }

  onBodySent(): void {
    this.#passage.upload?.onPartSent();
  }

  override onRequestSent(): void {
    super.onRequestSent();
    this.#passage.upload?.onSent();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    reason = "",
  ): void {
    const { req, res, request, added, report } = this.#passage;
    const raw = replyHeaders(controller.rawHeaders, headers.connection, status);
    if (status < 200) {
      // undici cannot be paused here: if the client reads nothing, all interim answers would stay in memory.
      if (!this.isInterimAllowed(status, headers) || res.writableLength > MAX_WAITING_BYTES) return this.fail("broken");
      if (req.httpVersion !== "1.0") res.writeInformation(status, raw);
      return;
    }
    report.answered(status);
    this.#head = { status, headers };
    const coding = firstValue(headers, "transfer-encoding");
    if (coding !== undefined && coding.toLowerCase() !== "chunked") return this.fail("broken");
    addHeaders(raw, added);
    exposeProxied(raw);
    res.sendDate = false;
    res.writeHead(status, reasonBytes(reason), raw);
    const isHeadOnly = request.method === "HEAD" || status === 204 || status === 304;
    this.#body = new AnswerBody(res, controller, isHeadOnly ? Number.NaN : Number(headers["content-length"]));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    // A held answer may be over already, and undici cannot stop its events then.
    if (this.isOver) return;
    this.#judgeBy(chunk);
    this.#passage.report.sent.value += chunk.length;
    this.#body?.add(chunk);
  }

  /** Judges the answer by the first bytes of its body. */
  #judgeBy(body: Buffer): void {
    if (this.#head) this.judge({ ...this.#head, body }, this.#passage.context.exchange.target);
    this.#head = undefined;
  }

  override onResponseEnd(): void {
    const { context, report } = this.#passage;
    this.#judgeBy(noBytes);
    // A front may limit a single client only.
    if (this.judgement === "ill" && this.judgedStatus !== 429) context.exchange.hasFailed = true;
    this.#body?.end();
    // Anything thrown before this line cuts the answer.
    if (!this.isOver) report.over(context);
    this.isOver = true;
    super.onResponseEnd();
  }

  #offer(answer: Beginning, substitute: Substitute): Promise<void | "answered"> | undefined {
    const { res, context } = this.#passage;
    const substituted = res.headersSent
      ? Promise.resolve(true)
      : substitute({ ...answer, judgement: this.judge(answer, context.exchange.target) });
    return substituted?.then((isAnswered) => (isAnswered || res.headersSent ? "answered" : undefined));
  }

  onReplaced(isWhole: boolean): void {
    const { context, report } = this.#passage;
    if (!this.isOver) report.over(context);
    this.isOver = true;
    if (isWhole) return;
    // The end of the answer would report this, but it does not come.
    this.upstream.health?.answered(this, this.judgement, this.judgedStatus);
    this.giveUp();
  }

  protected override onLeave(ms: number): void {
    const { request, context, res, upload } = this.#passage;
    const { exchange } = context;
    upload?.destroy();
    exchange.countCall(ms);
    const { onCall } = this.upstream;
    if (onCall === undefined) return;
    const { method, path } = request;
    const end = this.#body ? { status: res.statusCode, bytes: exchange.bytes } : { failure: "no answer" };
    // This code runs in the context of the connection, which another request may have opened.
    contexts.run(context, () => onCall({ method, path, ms, ...end }));
  }

  protected override onFailure(failure: UpstreamFailure): void {
    const { res, context, request, upload, added, substitute, report } = this.#passage;
    const isBad = codeOf(failure.cause) === "UND_ERR_INVALID_ARG";
    const trouble = isBad ? "badRequest" : upload?.isSlow === true ? "slowClient" : failure.kind;
    upload?.destroy();
    const { exchange } = context;
    if (this.#body) {
      exchange.hasFailed = failure.kind !== "aborted";
      this.#body.cut();
    } else {
      const refuseIt = (isAnswered = false): void => {
        if (isAnswered || res.writableEnded || res.destroyed) return;
        // Code of the gateway has thrown after the head was sent.
        if (res.headersSent) {
          exchange.hasFailed = true;
          res.destroy();
        }
        // The headers of features are left out after a fault: they may be its cause.
        else refuse(res, { trouble, isUnsent: failure.isUnsent, added: trouble === "fault" ? [] : added });
      };
      const substituted = trouble === failure.kind && noAnswer.has(failure.kind) ? substitute?.(undefined) : undefined;
      if (substituted === undefined) refuseIt();
      else
        substituted
          .catch(report.fault)
          .then((isAnswered) => refuseIt(isAnswered === true))
          .catch((error: unknown) => this.onFailure(new UpstreamFailure("fault", request, error)));
    }
    report.failed(request, context, trouble, failure);
  }
}
