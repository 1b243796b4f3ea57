import type { Core } from "../../../src/gateway/index.ts";
import { type DependencyState, describeReason, sumTraffic } from "../../../src/operation/index.ts";
import type { PageTrouble } from "../../../libraries/ui/consolePart.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { timeAgo } from "../../../libraries/ui/parts.ts";
import { whenOf } from "./headline.ts";

/**
 * The lights in their order: the dependencies that each stands for, the most serious first, and what it says while they
 * fail. It is shown if the first of these is configured.
 */
const lights = {
  Legacy: { legacy: "failing", legacy_sample: "invented" },
  Modern: { modern: "failing" },
  Redis: { redis: "failing" },
  Disk: { disk_cache: "failing" },
  Store: { store: "failing", stages: "lost" },
} as const satisfies Record<string, Record<string, string>>;

type Watched = Pick<Core, "dependencies" | "legacyTroubles">;

/** The lights that are configured, each with its state and for how long it has lasted. */
export const lightsBar = ({ dependencies, legacyTroubles }: Watched, now: Date): Html => {
  const states = new Map(dependencies.states().map((state) => [state.name, state]));
  const items = Object.entries<Readonly<Record<string, string>>>(lights).map(([title, words]) => {
    const own: DependencyState[] = Object.keys(words).flatMap((name) => states.get(name) ?? []);
    const [main = ""] = Object.keys(words);
    if (!states.has(main)) return "";
    const failed = own.find(({ state }) => state === "failed");
    // A trouble with the answers of a legacy that does not fail.
    const [partly] = main === "legacy" ? legacyTroubles() : [];
    // The latest change: since then all of them have been well.
    const [since = ""] = own.map((dependency) => dependency.since).toSorted((a, b) => b.localeCompare(a));
    const [colour, said] = failed
      ? [dependencies.isUsed(failed.name) ? "trouble" : "drift", words[failed.name]]
      : [partly ? "drift" : "explained", partly ? html`${partly.name}${whenOf(partly, now)}` : "ok"];
    const light = (failed ? words[failed.name] : partly?.name) ?? "ok";
    const ago = failed || !partly ? timeAgo(failed?.since ?? since, now, "now") : "";
    return html`<li data-key="${title}" data-light="${light}">
      <strong>${title}</strong> <span class="${colour}">${said} ${ago}</span>
    </li>`;
  });
  return html`<ul class="lights" aria-label="What the gateway uses">
    ${items}
  </ul>`;
};

/** An operator's remedies, by the trouble with legacy. */
const repairs: Readonly<Record<string, string>> = {
  refusing: "Let legacy’s front admit the gateway",
  unsure: "Let legacy’s front treat the probe like requests",
  ill: "Look at what stands before legacy",
  full: "Look for a caller that sends too much, or raise MAX_CONNECTIONS",
};

/** The failed dependencies that callers need, and the troubles with the answers of a legacy that does not fail. */
export const causesOf = (
  { dependencies, legacyTroubles, traffic }: Watched & Pick<Core, "traffic">,
  remedies: Readonly<Record<string, Html>>,
): PageTrouble[] => {
  const { errors } = sumTraffic(traffic.recent());
  const pressFor = (name: string): Html =>
    html`${repairs[name] ?? "Repair legacy"}; nothing has to be pressed
    here${errors === 0 ? "" : html`. <a href="#traffic">What fails</a>`}`;
  const all = { ...remedies, legacy: pressFor("legacy") };
  return [
    ...Object.values(Object.groupBy(dependencies.failed(), ({ trouble }) => trouble)).map((alike = []) =>
      dependencyTrouble(alike, all),
    ),
    ...legacyTroubles().map((told) => ({
      ...told,
      what: told.trouble,
      why: describeReason(told),
      press: pressFor(told.name),
    })),
  ];
};

/** Dependencies whose failure has the same words: it lasts since the first of them failed. */
const dependencyTrouble = (
  alike: ReturnType<Core["dependencies"]["failed"]>,
  remedies: Readonly<Record<string, Html>>,
): PageTrouble => ({
  name: alike.map(({ name }) => name).join(" "),
  what: alike[0]?.trouble ?? "",
  since: alike.map((failure) => failure.since).toSorted()[0] ?? "",
  effect: alike.map(({ effect }) => effect).join("; "),
  why: [...new Set(alike.map((failure) => describeReason(failure)))].join("; "),
  press: alike.flatMap(({ name }) => remedies[name] ?? [])[0] ?? html`<a href="/readyz?verbose">All dependencies</a>`,
});
