import { facetsOf, memberOf } from "../../src/compare/facets.ts";
import { pointerSteps } from "../../src/compare/pointer.ts";
import type { Json, JsonObject, Rule } from "../../src/rules/rule.ts";
import { type Change, documentChanges } from "./documentChanges.ts";
import type { DocumentFault, Fault } from "./fault.ts";
import { hashOf } from "./chance.ts";
import { isAround, isMeant, type Place, placesOf } from "./places.ts";
import type { Seen } from "./planted.ts";

type Wrong = Fault & { fault: DocumentFault };

/** What one fault did. */
export type Played = { fault: Fault; seen: Omit<Seen, "as"> & { as: "difference" | "allowed" } };

/** Plays the faults on a document. Where two of them meet, the first one counts: each is to be seen as what it is. */
export const faultyDocument = (
  output: Rule | undefined,
  document: Json,
  faults: readonly Wrong[],
): { document: Json; done: Played[] } => {
  const places = placesOf(document);
  const changes: Change[] = [];
  const done: Played[] = [];
  for (const fault of faults) {
    const free = changesOf(fault, places, output).filter(
      ({ at }) => !changes.some((other) => isAround(other.at, at) || isAround(at, other.at)),
    );
    changes.push(...free);
    const { form } = documentChanges[fault.fault];
    for (const path of new Set(free.map((change) => (change.seenBelow ? `${change.path}/*` : change.path))))
      done.push({
        fault,
        seen: { path, form, as: form === "order" && isFree(output, path) ? "allowed" : "difference" },
      });
  }
  return { document: changes.reduce(changed, structuredClone(document)), done };
};

const changesOf = ({ endpoint, fault, path }: Wrong, places: readonly Place[], output: Rule | undefined): Change[] => {
  const kind = documentChanges[fault];
  if (path !== undefined) {
    // A new field has no place yet: it is looked for by the object around it.
    const [parent, name] = fault === "extraField" ? lastStepOf(path) : [path, undefined];
    return places.flatMap((place) => (isMeant(parent, place) ? (kind.change(place, name) ?? []) : []));
  }
  const fitting = places.flatMap((place) => (kind.picks(place) ? (kind.change(place) ?? []) : []));
  // The same place in every document that has it, and another only where it does not fit.
  const rank = (one: string) => hashOf(`${endpoint} ${fault} ${one}`) + (isFree(output, one) ? 2 ** 32 : 0);
  const [first] = [...new Set(fitting.map((change) => change.path))].toSorted((a, b) => rank(a) - rank(b));
  return fitting.filter((change) => change.path === first);
};

const lastStepOf = (pointer: string): [parent: string, name: string | undefined] => [
  pointer.slice(0, Math.max(0, pointer.lastIndexOf("/"))),
  pointerSteps(pointer).at(-1),
];

/** Whether the order of this list's entries means nothing. */
const isFree = (output: Rule | undefined, path: string): boolean => {
  let facets = output && facetsOf(output);
  for (const step of pointerSteps(path)) {
    const inner = facets && memberOf(facets, step);
    facets = inner && facetsOf(inner);
  }
  return facets?.anyOrder !== undefined;
};

const changed = (document: Json, { at, value }: Change): Json => {
  const steps = pointerSteps(at);
  const last = steps.pop();
  if (last === undefined) return value ?? null;
  const parent = steps.reduce<Json>((inner, step) => (inner as JsonObject)[step] as Json, document) as JsonObject;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return document;
};
