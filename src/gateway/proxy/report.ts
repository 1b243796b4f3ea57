import { contexts, type Meter, type Observer, type RequestContext } from "../../operation/index.ts";
import { type RequestLine, withoutQuery } from "../upstream/failure.ts";
import { type Trouble, troubles } from "./refuse.ts";

/** The statuses with a separate series; every other status is `other`. */
const commonStatuses = "200 201 204 206 301 302 304 400 401 403 404 405 409 412 413 416 429 500 502 503 504".split(" ");

/** `slowClient` -> `slow_client`. */
const labelOf = (trouble: string): string => trouble.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The metrics and log events of proxied requests. */
export type ProxyReport = ReturnType<typeof openProxyReport>;

/** Registers the metrics of proxied requests. `observer` gets each failure once. */
export const openProxyReport = (
  meter: Pick<Meter, "counter" | "histogram">,
  observer: Pick<Observer, "event" | "fault">,
) => {
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
  const byStatus = new Map(commonStatuses.map((status) => [Number(status), requests(status)]));
  const others = requests("other");
  for (const trouble of Object.keys(troubles)) failures(labelOf(trouble));
  const over = ({ exchange }: RequestContext): void => took.observe((performance.now() - exchange.started) / 1000);
  return {
    /** Bytes of bodies from clients; `sent`: to clients. */
    received: bytes("request"),
    sent: bytes("response"),
    /** Counts an answer that the upstream has begun. `status` may be any number. */
    answered: (status: number) => void (byStatus.get(status) ?? others).value++,
    /** Observes the duration of a request whose whole answer has come. */
    over,
    /** Reports an error of the gateway itself for which no request waits. */
    fault: observer.fault,
    /** Reports a request that has ended without a whole answer from the upstream. */
    failed({ method, path }: RequestLine, context: RequestContext, kind: Trouble, error?: Error): void {
      over(context);
      failures(labelOf(kind)).value++;
      const { level } = troubles[kind];
      // A failure may occur in the context of a connection, which another request may have opened.
      contexts.run(context, () => {
        if (kind === "fault") return observer.fault(error?.cause);
        const members = { kind, method, path: withoutQuery(path), why: error?.message, level };
        observer.event("pass_through_failed", members);
      });
    },
  };
};
