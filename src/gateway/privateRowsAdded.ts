import type { Filled } from "../cache/question.ts";
import type { Caller } from "../legacy/client.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { type FetchPage, mergedPage, type Placed } from "../privateRows/merge.ts";
import type { AskLegacy } from "../privateRows/look.ts";
import type { PrivateRowsKnowledge } from "../privateRows/knowledge.ts";
import type { PrivateRows } from "../privateRows/privateRows.ts";
import type { View } from "../privateRows/view.ts";
import type { Json } from "../rules/rule.ts";
import { askSound, conclude, type Conclusion } from "./answering.ts";
import { answerFrom, askLegacy } from "./byLegacy.ts";
import type { Machine } from "./machine.ts";
import type { Asking } from "./plan.ts";
import type { Prepared } from "./prepared.ts";

/** What legacy's answer to a caller lacks, where that is a list with private rows. */
export const lackingFor = async (
  machine: Machine,
  endpoint: Prepared,
  input: Record<string, unknown>,
  caller: Caller,
): Promise<View> => {
  const { privateRows, keys } = machine;
  const { key, deadline } = caller;
  if (key === undefined || privateRows?.knowledge.endpoint !== endpoint.name) return "own";
  const owner = keys.ownerOf(key);
  return privateRows.view(input, { owner, ask: asCaller(machine, endpoint, caller), deadline });
};

const asCaller =
  (machine: Machine, endpoint: Prepared, caller: Caller): AskLegacy =>
  (request, form) =>
    askSound(machine, endpoint, request, caller, form);

/** The group of the answers that private rows were added to. */
export const privateGroup = ({ kind }: PrivateRowsKnowledge): string => `private-${kind}`;

/** Legacy's answer, with what it lacks. */
export const askWith = (
  machine: Machine,
  endpoint: Prepared,
  plan: Asking,
  caller: Caller,
  view: View,
): Promise<Filled> =>
  typeof view === "string" || machine.privateRows === undefined
    ? askLegacy(machine, endpoint, plan, caller)
    : askMerged({ ...machine, privateRows: machine.privateRows }, endpoint, plan, caller, view.added);

const askMerged = async (
  machine: Machine & { privateRows: PrivateRows },
  endpoint: Prepared,
  { input }: Asking,
  caller: Caller,
  added: readonly Placed<Json>[],
): Promise<Filled> => {
  const { knowledge, question, stillPrivate } = machine.privateRows;
  const started = performance.now();
  const page = knowledge.pageOf(input);
  const fetch: FetchPage<Json, Conclusion> = async (part) => {
    const request = endpoint.legacy(knowledge.withPage(input, part));
    if ("unsent" in request) return { other: { outcome: { kind: "broken", message: request.unsent } } };
    const conclusion = await conclude(machine, endpoint, request, caller, input);
    if ("ours" in conclusion)
      return { rows: (conclusion.ours as Json[]).map((row) => ({ id: knowledge.idOf(row), row })) };
    return conclusion.outcome.kind === "notFound" ? { rows: [] } : { other: conclusion };
  };
  // Those before the page shift it: where one of them is public by now, another row comes first on it.
  const before = added.slice(0, page.offset);
  let left = [...(await stillPrivate(before, asCaller(machine, endpoint, caller))), ...added.slice(page.offset)];
  let merged = await mergedPage(left, page, fetch);
  while ("repeated" in merged) {
    // Legacy lists them by now: they are public.
    const listed = new Set(merged.repeated);
    for (const id of listed) question(id);
    left = left.filter(({ id }) => !listed.has(id));
    merged = await mergedPage(left, page, fetch);
  }
  const ours = "rows" in merged && merged.rows.length > 0 ? merged.rows : undefined;
  const answer =
    "other" in merged ? answerFrom(merged.other) : answerFrom(ours ? { ours } : { outcome: endpoint.absent ?? none });
  machine.migration.track(endpoint.name).asked("legacy", performance.now() - started, answer.status >= 500);
  return { answer, groups: [...(endpoint.cache?.groups(input, ours) ?? []), privateGroup(knowledge)] };
};

const none: Outcome = { kind: "notFound", message: "No results" };
