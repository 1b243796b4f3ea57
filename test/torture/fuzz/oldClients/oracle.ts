import { gunzipSync } from "node:zlib";
import type { Answer } from "../../lib/client.ts";
import { type Catalogue, keys, type Revision } from "./catalogue.ts";

/** A read of the legacy interface. */
export type OldRead = {
  /** `undefined`: the list of all. */
  id: number | undefined;
  form: "json" | "xml";
  who: keyof typeof keys | undefined;
  /** It came with a key or a session, also if legacy does not know it. */
  mayBeShownMore: boolean;
  /** The port of the gateway that was asked; when, and when the answer was there. */
  gateway: number;
  sentAt: number;
  answeredAt: number;
};

/** The liberties of the gateway. */
export type Bounds = {
  /** Legacy fails, or what the gateway knows of it may be from then. */
  isOut: boolean;
  /** Milliseconds for which a change may stay unseen that no answered write made. */
  maxAge: number;
  /** Milliseconds for which a gateway may not know of a write that another gateway answered. */
  lag: number;
};

/** Each dataset of a document or a list, with the number of its revision. */
const datasets = /\bd?id"?[:>]\s*"?(\d+)\D+R(\d+)/g;

/** The error in an answer; `undefined` if legacy would give it to this caller, or has given it within the bounds. */
export const judgeOldRead = (
  catalogue: Catalogue,
  read: OldRead,
  answer: Answer,
  bounds: Bounds,
): string | undefined => {
  const { id, form, who, mayBeShownMore } = read;
  const { status, headers } = answer;
  const type = headers["content-type"] ?? "";
  const text = textOf(answer);
  const code = Number(/(?:"code":\s*"|<oml:code>)(\d+)/.exec(text)?.[1]);
  const isCached = headers["cache-status"] !== undefined;
  if (status === 0) return "no answer";
  if (isCached && headers["set-cookie"] !== undefined) return "a session in a cached answer";
  if (mayBeShownMore && headers["cache-control"]?.includes("public") === true)
    return "an answer to a key that any cache may share";
  if (status >= 500 || code === 107 || type.includes("html"))
    return bounds.isOut ? undefined : `status ${status}, code ${code}, though legacy is well`;
  if (code === 103) return who === "stranger" ? undefined : "a key that legacy knows is refused";
  if (who === "stranger" && !bounds.isOut) return "a key that legacy does not know is answered";
  // While legacy fails, the public list is better than none; an error hides what may be there.
  if (isCached && mayBeShownMore && (id !== undefined || !bounds.isOut)) {
    if (status !== 200) return "a key gets the error of a request without a key";
    if (id === undefined) return "a key gets the list of a request without a key";
  }
  if (status === 200 && type.includes("json") !== (form === "json")) return `the other format: ${type}`;
  const shown = new Map(Array.from(text.matchAll(datasets), ([, did, number]) => [Number(did), Number(number)]));
  if (status === 200 ? shown.size === 0 : ![111, 112, 361, 372].includes(code)) return `status ${status}, code ${code}`;
  const others = [...shown.keys()].filter((shownId) => id !== undefined && shownId !== id);
  if (others.length > 0) return `another dataset: ${others.join()}`;
  for (const each of id === undefined ? catalogue.ids() : [id]) {
    const why = judgeDataset(catalogue, { ...read, isCached }, each, shown.get(each), bounds);
    if (why !== undefined) return `dataset ${each} as R${shown.get(each)}, ${isCached ? "cached" : "passed"}: ${why}`;
  }
  return undefined;
};

/** The same for a single dataset, shown as this revision, or not at all. */
const judgeDataset = (
  catalogue: Catalogue,
  { id: asked, who, gateway, sentAt, answeredAt, isCached }: OldRead & { isCached: boolean },
  id: number,
  number: number | undefined,
  { isOut, maxAge, lag }: Bounds,
): string | undefined => {
  const shown = number === undefined ? undefined : catalogue.revision(number);
  if (number !== undefined && shown?.id !== id) return "a revision of another dataset";
  // Cached answers are public.
  const isVisible = (revision: Revision) =>
    revision.visibility === "public" || (revision.visibility === "private" && !isCached && revision.owner === who);
  if (shown !== undefined && !isVisible(shown)) return "private, or gone";
  const known = catalogue.of(id).filter(({ at }) => at <= answeredAt);
  const latest = known.findLastIndex((revision) => (shown === undefined ? !isVisible(revision) : revision === shown));
  // A dataset that is not shown may not have been there yet.
  const lacking = known.slice(latest + 1);
  const [first] = lacking;
  if (first === undefined || first.at >= sentAt) return undefined;
  if (!isCached) return "legacy would answer otherwise";
  const isKnown = ({ answeredAt: told, answeredBy }: Revision) => told <= sentAt - (answeredBy === gateway ? 0 : lag);
  const mayLack = (one: Revision) => isOut && (one.isLost === true || (asked === undefined && one.isSoft));
  if (lacking.some((each) => isKnown(each) && !mayLack(each))) return "older than a write that was answered before";
  return sentAt - first.at > maxAge ? `${Math.round(sentAt - first.at)} ms too old, of ${maxAge}` : undefined;
};

const textOf = ({ headers, body }: Answer): string =>
  (headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
