import type { Core } from "../../../src/gateway/index.ts";
import { type DependencyState, describeReason } from "../../../src/operation/index.ts";
import type { PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { timeAgo } from "../../../libraries/ui/parts.ts";
import { formatNumber } from "../../../libraries/ui/wording.ts";

/**
 * The lights in their order: the dependencies that each stands for, the most serious first, and what it says while they
 * fail. It is shown where the first one is configured.
 */
const lights = {
  Legacy: {
    legacy: "failing",
    legacy_access: "refusing",
    legacy_room: "full",
    legacy_speed: "slow",
    legacy_endpoints: "in part",
    legacy_probe: "unsure",
    legacy_sample: "invented",
  },
  Modern: { modern: "failing" },
  Redis: { redis: "failing" },
  Store: { store: "failing", stages: "lost" },
} as const satisfies Record<string, Record<string, string>>;

type Watched = Pick<Core, "dependencies" | "readCounts">;

/** One light for each of them that is configured: its state, and for how long. */
export const lightsBar = ({ dependencies }: Pick<Watched, "dependencies">, now: Date): Html => {
  const states = new Map(dependencies.states().map((state) => [state.name, state]));
  const items = Object.entries<Readonly<Record<string, string>>>(lights).flatMap(([title, words]) => {
    const own = Object.keys(words).flatMap((name) => states.get(name) ?? []);
    const [main = ""] = Object.keys(words);
    return states.has(main) ? [light(title, words, own, dependencies, now)] : [];
  });
  return html`<ul class="lights" aria-label="What the gateway uses">
    ${items}
  </ul>`;
};

const light = (
  title: string,
  words: Readonly<Record<string, string>>,
  own: readonly DependencyState[],
  { isUsed }: Pick<Core["dependencies"], "isUsed">,
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
  const [state, word] = failed ? [isUsed(failed.name) ? "trouble" : "drift", words[failed.name]] : ["explained", "ok"];
  return html`<li data-key="${title}">
    <strong>${title}</strong> <span class="${state}">${word} ${timeAgo(since, now, "now")}</span>
  </li>`;
};

/** The dependencies that fail and that callers need, since when, and what it means. */
export const dependencyTroubles = (
  { dependencies, readCounts }: Watched,
  remedies: Readonly<Record<string, Html>>,
): PageTrouble[] => {
  const groups = Object.entries(Object.groupBy(dependencies.failed(), ({ trouble }) => trouble));
  // Said once, of the most serious trouble of legacy.
  const ofLegacy = groups.findIndex(([, alike]) => alike?.some(({ name }) => name in lights["Legacy"]));
  const reads = readsSince(readCounts);
  return groups.map(([trouble, alike = []], i) =>
    dependencyTrouble(trouble, alike, remedies, i === ofLegacy ? reads : ""),
  );
};

/** What has become of the reads of old clients since legacy is in trouble. */
const readsSince = (readCounts: Core["readCounts"]): string => {
  const trouble = readCounts?.view().trouble;
  if (trouble === undefined || trouble.cached + trouble.failed === 0) return "";
  return `. Of old clients’ reads since then ${formatNumber(trouble.cached)} came from the cache, ${formatNumber(trouble.failed)} failed`;
};

type Failed = ReturnType<Core["dependencies"]["failed"]>;

/** Dependencies whose failure has the same words: it lasts since the first of them failed. */
const dependencyTrouble = (
  what: string,
  alike: Failed,
  remedies: Readonly<Record<string, Html>>,
  reads: string,
): PageTrouble => ({
  what,
  since: alike.map((failure) => failure.since).toSorted()[0] ?? "",
  effect: alike.map(({ effect }) => effect).join("; ") + reads,
  why: [...new Set(alike.map(describeReason))].join("; "),
  press: alike.flatMap(({ name }) => remedies[name] ?? [])[0] ?? allDependencies,
});

const allDependencies = html`<a href="/readyz?verbose">All dependencies</a>`;
