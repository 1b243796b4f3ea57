import type { Core } from "../../../src/gateway/index.ts";
import { type DependencyState, describeReason } from "../../../src/operation/index.ts";
import type { PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { timeAgo } from "../../../libraries/ui/parts.ts";

/**
 * The lights in their order: the dependencies that each stands for, the most serious first, and what it says while they
 * fail. It is shown where the first one is configured.
 */
const lights = {
  Legacy: { legacy: "failing", legacy_sample: "invented" },
  Modern: { modern: "failing" },
  Redis: { redis: "failing" },
  Store: { store: "failing", stages: "lost" },
} as const satisfies Record<string, Record<string, string>>;

type Watched = Pick<Core, "dependencies" | "legacyTroubles">;

/** One light for each of them that is configured: its state, and for how long. */
export const lightsBar = ({ dependencies, legacyTroubles }: Watched, now: Date): Html => {
  const states = new Map(dependencies.states().map((state) => [state.name, state]));
  const items = Object.entries<Readonly<Record<string, string>>>(lights).flatMap(([title, words]) => {
    const own = Object.keys(words).flatMap((name) => states.get(name) ?? []);
    const [main = ""] = Object.keys(words);
    const partly = main === "legacy" ? legacyTroubles()[0]?.name : undefined;
    return states.has(main) ? [light(title, words, own, { isUsed: dependencies.isUsed, partly }, now)] : [];
  });
  return html`<ul class="lights" aria-label="What the gateway uses">
    ${items}
  </ul>`;
};

/** `partly`: what is wrong with it though it does not fail. */
type Use = Pick<Core["dependencies"], "isUsed"> & { partly: string | undefined };

const light = (
  title: string,
  words: Readonly<Record<string, string>>,
  own: readonly DependencyState[],
  { isUsed, partly }: Use,
  now: Date,
): Html => {
  const failed = own.find(({ state }) => state === "failed");
  // The latest change: since then all of them have been well.
  const since =
    failed?.since ??
    own
      .map((one) => one.since)
      .toSorted()
      .at(-1) ??
    "";
  const [state, word] = failed
    ? [isUsed(failed.name) ? "trouble" : "drift", words[failed.name]]
    : [partly === undefined ? "explained" : "drift", partly ?? "ok"];
  const ago = failed || partly === undefined ? timeAgo(since, now, "now") : "";
  return html`<li data-key="${title}"><strong>${title}</strong> <span class="${state}">${word} ${ago}</span></li>`;
};

/** The dependencies that fail and that callers need, and what is wrong with the answers of a legacy that does not. */
export const causesOf = (
  { dependencies, legacyTroubles }: Watched,
  remedies: Readonly<Record<string, Html>>,
): PageTrouble[] => [
  ...Object.entries(Object.groupBy(dependencies.failed(), ({ trouble }) => trouble)).map(([trouble, alike = []]) =>
    dependencyTrouble(trouble, alike, remedies),
  ),
  ...legacyTroubles().map((told) => ({
    ...told,
    what: told.trouble,
    why: describeReason(told),
    press: trafficLink,
  })),
];

type Failed = ReturnType<Core["dependencies"]["failed"]>;

/** Dependencies whose failure has the same words: it lasts since the first of them failed. */
const dependencyTrouble = (what: string, alike: Failed, remedies: Readonly<Record<string, Html>>): PageTrouble => ({
  what,
  since: alike.map((failure) => failure.since).toSorted()[0] ?? "",
  effect: alike.map(({ effect }) => effect).join("; "),
  why: [...new Set(alike.map(describeReason))].join("; "),
  press: alike.flatMap(({ name }) => remedies[name] ?? [])[0] ?? allDependencies,
});

/** To what fails, by endpoint. */
export const trafficLink = html`<a href="#traffic">What fails</a>`;

const allDependencies = html`<a href="/readyz?verbose">All dependencies</a>`;
