import { entryOf } from "../../cache/entry.ts";
import { tagged, untagged, type Answer } from "../../cache/reply.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { answerOf } from "../../endpoint/answer.ts";
import type { Outcome } from "../../endpoint/outcome.ts";
import {
  type Backend,
  type EndpointRequest,
  type Layer,
  type RequestCaller,
  type Served,
  uncached,
} from "../../serve/backend.ts";
import { unauthenticated } from "../../serve/legacyFetch.ts";
import type { Services } from "../../serve/feature.ts";
import type { AdminStatuses } from "./adminStatus.ts";
import { askAs } from "./askLegacy.ts";
import { hasNoFilter, idsInText, LIST_ENDPOINT, rowsById } from "./datasets.ts";
import type { Found, PrivateRow } from "./found.ts";
import { rowMatcher, uploaderIn } from "./matching.ts";
import type { Scanner } from "./scan.ts";
import type { openWholeLists } from "./wholeLists.ts";

type Input = Record<string, unknown>;
type KeyedRequest = RequestCaller & { key: string };

/** The parts of merged lists. */
type MergedListParts = {
  services: Services;
  found: Found;
  scanner: Pick<Scanner, "isCurrent" | "pending" | "settled">;
  adminStatuses: AdminStatuses;
  wholeLists: ReturnType<typeof openWholeLists>;
  /** A row as the endpoint lists it; `undefined` if that is unknown. */
  listedRow: (row: PrivateRow) => Buffer | undefined;
};

/** The wait for the caller's status and for datasets that are being read: milliseconds at most, and the share of the time that is left. */
const MAX_WAIT = 2000;
const MAX_SHARE = 1 / 4;
/** How often a list is made at most, because private datasets have changed meanwhile. */
const MAX_TRIES = 3;

const noResults: Outcome = { kind: "notFound", message: "No results" };
const lacksRows: Outcome = { kind: "unavailable", message: "The list may lack private rows." };
const [open, comma, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

const representationOf = ({ answered }: Served) => ("entry" in answered ? answered.entry : answered.representation);

/** Adds to administrators' lists the private datasets that legacy's list lacks. All other requests go to the next layer. */
export const privateRowsLayer = (parts: MergedListParts): Layer => {
  const { services, adminStatuses } = parts;
  const incomplete = services.meter.counter("private_incomplete_total", "Answers with private=incomplete.")();
  /** Marks a list as incomplete. Only 200 and 404 answer with a list, the latter with an empty one. */
  const marked = (served: Served, isIncomplete: boolean, isBypass = false): Served => {
    const { status } = representationOf(served);
    if (!isIncomplete || (status !== 200 && status !== 404)) return served;
    // An incomplete list is not compared.
    if (isBypass) return { answered: uncached(answerOf(lacksRows)), isIncomplete };
    incomplete.value++;
    return { ...served, isIncomplete };
  };
  const answerList = async (next: Backend, request: EndpointRequest, caller: KeyedRequest): Promise<Served> => {
    const { input, bypass } = request;
    const wait = Math.min(MAX_WAIT, Math.max(1, MAX_SHARE * (caller.deadline - Date.now())));
    const until = performance.now() + wait;
    const owner = services.keys.ownerOf(caller.key);
    const status = await adminStatuses.of({ owner, ask: askAs(services, caller) }, wait);
    if (status === "refused") return { answered: uncached(answerOf(unauthenticated)) };
    const merged = status === "administrator" ? await answerMerged(parts, request, caller, until) : undefined;
    if (merged) return marked(merged, merged.isIncomplete === true, bypass);
    const served = await next(request, caller);
    learnUploaders(parts.found, input, () => idsInText(representationOf(served).body.toString("latin1")));
    return status === "other" ? served : marked(served, true, bypass);
  };
  return (next) => (request, caller) => {
    const { key } = caller;
    const isMerged = key !== undefined && request.endpoint.name === LIST_ENDPOINT && !("unsent" in request.legacy);
    return isMerged ? answerList(next, request, { ...caller, key }) : next(request, caller);
  };
};

/** Legacy lists a private dataset to its owner only. The key does not say whose it is, the filter does. */
const learnUploaders = (found: Found, input: Input, listed: () => Iterable<number>): void => {
  const uploader = uploaderIn(input);
  if (uploader === undefined || found.rows().every((row) => row.uploader !== undefined)) return;
  for (const id of listed()) {
    const row = found.get(id);
    if (row !== undefined) found.put({ ...row, uploader });
  }
};

/** Answers a page of legacy's whole list and the private datasets that match; `undefined`: legacy cannot give the whole list. */
const answerMerged = async (
  parts: MergedListParts,
  { endpoint, input, bypass = false, wanted }: EndpointRequest,
  caller: KeyedRequest,
  until: number,
): Promise<Served | undefined> => {
  const { found, scanner, wholeLists, listedRow } = parts;
  const matches = rowMatcher(input);
  /** Whether a dataset that may match is still being read. */
  const isPending = async (): Promise<boolean> => {
    const mayMatch = () => scanner.pending().some((id) => matches({ id, uploader: found.get(id)?.uploader }) !== false);
    if (mayMatch()) await withTimeout(scanner.settled(), Math.max(1, until - performance.now()));
    return mayMatch();
  };
  for (let tries = 1; ; tries++) {
    // oxlint-disable no-await-in-loop -- one attempt after the other
    await isPending();
    const rows = found.rows();
    const answered = await wholeLists.whole(input, wanted, caller, bypass);
    const { status, body } = representationOf({ answered });
    if (status >= 500 && !wanted.onlyIfCached) return undefined;
    if (status !== 200) return { answered };
    const listed = rowsById(body);
    let isIncomplete =
      (await isPending()) ||
      !scanner.isCurrent() ||
      (await mayHaveTurnedPrivate(parts, input, listed, caller.deadline));
    // oxlint-enable no-await-in-loop
    if (!isIncomplete && found.rows() !== rows && tries < MAX_TRIES) continue;
    isIncomplete ||= found.rows() !== rows;
    learnUploaders(found, input, () => listed.keys());
    const pending = new Set(scanner.pending());
    for (const row of rows) {
      const isMatch = !pending.has(row.id) && matches(row);
      const line = isMatch ? listedRow(row) : undefined;
      if (line !== undefined) listed.set(row.id, listed.get(row.id) ?? line);
      else if (isMatch !== false) isIncomplete = true;
    }
    const [offset, limit] = [Number(input["offset"]), Number(input["limit"])];
    const page = [...listed].toSorted(([a], [b]) => a - b).slice(offset, offset + limit);
    const content: Answer =
      page.length === 0
        ? answerOf(endpoint.notFound ?? noResults)
        : {
            status: 200,
            body: Buffer.concat([open, ...page.flatMap(([, row], i) => (i ? [comma, row] : row)), close]),
          };
    if (!("entry" in answered)) return { answered: { ...answered, representation: untagged(content) }, isIncomplete };
    // The page is as old as the list that it is cut from.
    const { endpoint: name, groups, owner, lifetimes, storedAt } = answered.entry;
    const about = { endpoint: name, groups, lifetimes, storedAt, ...(owner !== undefined && { owner }) };
    return { answered: { ...answered, entry: entryOf(tagged(content), about) }, isIncomplete };
  }
};

/** Whether legacy lacks a dataset that the last scan had in the public list. It may have turned private since. */
const mayHaveTurnedPrivate = async (
  { found, wholeLists }: MergedListParts,
  input: Input,
  listed: ReadonlyMap<number, unknown>,
  deadline: number,
): Promise<boolean> => {
  const { listed: before, highest } = found.progress();
  const matches = rowMatcher({ data_id: input["data_id"] });
  const absent: number[] = [];
  for (let id = 1; id <= highest; id++)
    if (before.has(id) && !listed.has(id) && found.get(id) === undefined && matches({ id, shown: {} })) absent.push(id);
  if (absent.length === 0 || hasNoFilter(input)) return absent.length > 0;
  const present = await wholeLists.publicIds(deadline);
  return present === undefined || absent.some((id) => !present.has(id));
};
