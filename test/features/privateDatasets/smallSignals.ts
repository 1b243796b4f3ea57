import { gzipSync } from "node:zlib";
import type { OutcomeKind } from "../../../src/endpoint/outcome.ts";
import type { Json } from "../../../src/rules/rule.ts";
import type { ProxiedRequest } from "../../../src/serve/feature.ts";
import type { Beginning } from "../../../src/proxy/heldAnswer.ts";
import { openSignals } from "../../../src/features/privateDatasets/signals.ts";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";

/** Signals for an index that knows 3 and 5, the latter of user 16; and the rechecks that they ask for. */
export const openedSignals = () => {
  const asked: number[] = [];
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  index.put({ id: 3, shown: { name: "kept" } });
  index.put({ id: 5, uploader: 16 });
  const signals = openSignals({
    index,
    queue: { add: (id) => void asked.push(id) },
    scanSoon: () => void asked.push(Infinity),
    unsettled: 60_000,
  });
  return {
    asked,
    index,
    answered: (
      endpoint: string,
      input: Record<string, unknown>,
      end: { ours: Json } | { kind: OutcomeKind },
      isKeyed: boolean,
    ) => signals.onLegacyAnswer({ endpoint, ms: 1, status: 200, found: { input, answer: end, isKeyed } }),
    /** By the new interface. */
    touched: (groups: readonly string[], isLost: boolean) => signals.onWrite({ groups, isLost }),
    /** By legacy's own interface; `undefined`: the answer is lost. */
    written: (path: string, groups: readonly string[], end: Beginning | undefined) =>
      signals.onWrite({ groups, isLost: end === undefined, proxied: { path, named: [], answer: end } }),
    observe: (request: ProxiedRequest) => signals.proxy.observe(request),
  };
};

/** A request that is passed through. */
export const proxied = (method: string, path: string): ProxiedRequest => ({
  method,
  target: path,
  legacy: { path, query: "", segments: [] },
  req: undefined as unknown as ProxiedRequest["req"],
  isWrite: false,
});

export const answer = (body: string | Buffer, status = 200): Beginning => ({
  status,
  headers: {},
  body: Buffer.from(body),
});
export const zipped = ({ status, body }: Beginning, length = 1e6) => ({
  status,
  headers: { "content-encoding": "gzip" },
  body: gzipSync(body).subarray(0, length),
});
export const error = (code: number) =>
  answer(`<oml:error xmlns:oml="http://openml.org/openml"><oml:code>${code}</oml:code></oml:error>`, 412);
export const jsonError = (code: number) => answer(JSON.stringify({ error: { code: `${code}`, message: "x" } }), 412);
