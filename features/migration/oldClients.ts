import { shellQuoted } from "../../libraries/compare/curls.ts";
import { type Difference, type ResultCounts, resultOf, zeroCounts } from "../../libraries/compare/difference.ts";
import { counted, formatNumber } from "../../libraries/ui/wording.ts";
import type { Core } from "../../src/gateway/index.ts";
import { type ComparedRequests, openComparedRequests } from "./comparedRequests.ts";
import { openDifferences } from "./differences.ts";
import { covers, type MigrationSettings } from "./settings.ts";

type ReadingCore = Pick<Core, "catalogue" | "events" | "observer" | "provedReads" | "settings">;

const none = zeroCounts();

/**
 * The evidence on endpoints whose old clients may follow the stage: legacy's documents for them, compared with ours
 * written back in legacy's form. An answer is as `expected` if it differs only where the endpoint names the loss.
 */
export class OldClients {
  readonly differences = openDifferences();
  /** The compared requests, by the endpoint's name. */
  readonly requests: ReadonlyMap<string, ComparedRequests>;
  readonly #core: ReadingCore;

  constructor(core: ReadingCore) {
    const named = Object.entries(core.catalogue.endpoints).filter(([, { legacyForm }]) => legacyForm !== undefined);
    this.requests = new Map(named.map(([name]) => [name, openComparedRequests()]));
    this.#core = core;
    core.events.on("oldAnswerRead", ({ endpoint, path, lost }) => this.#add(endpoint, path, lost));
  }

  /** Sets the endpoints whose old clients follow the stage. `all` leaves out those that have to be named. */
  follow({ MOVE_LEGACY: moved, CACHE_LEGACY: cached }: Pick<MigrationSettings, "MOVE_LEGACY" | "CACHE_LEGACY">): void {
    const { catalogue, provedReads } = this.#core;
    provedReads.clear();
    for (const [name, { legacyForm }] of Object.entries(catalogue.endpoints)) {
      const isOfAll = covers(moved, name) && covers(cached, name) && legacyForm && !legacyForm.isNamedOnly;
      if (isOfAll || moved.includes(name)) provedReads.add(name);
    }
  }

  /** The distinct requests of old clients, by their latest result. */
  counts(endpoint: string): ResultCounts {
    return this.requests.get(endpoint)?.counts() ?? none;
  }

  /** True if answers were compared, and no place is lost that no named loss covers. */
  isProven(endpoint: string): boolean {
    const { compared, unexplained } = this.counts(endpoint);
    return compared > 0 && unexplained === 0;
  }

  /** The reason why old clients may not follow the stage, as a clause; `undefined`: they may, or are not to. */
  objection(endpoint: string): string | undefined {
    if (!this.#core.provedReads.has(endpoint) || this.isProven(endpoint)) return undefined;
    const { compared, unexplained } = this.counts(endpoint);
    return compared === 0
      ? "no answer to old clients has been compared yet (the next that legacy gives is)"
      : `${formatNumber(unexplained)} of ${counted(compared, "compared answer")} to old clients would lose what no named loss covers`;
  }

  #add(endpoint: string, path: string, lost: readonly string[]): void {
    const { catalogue, settings } = this.#core;
    const losses = catalogue.endpoints[endpoint]?.legacyForm?.losses ?? {};
    const differences = lost.map((at): Difference => {
      const reason = Object.hasOwn(losses, at) ? losses[at] : undefined;
      const cause = `old clients: ${reason ?? `no named loss covers ${at}`}`;
      return { path: at, at, form: "lost", kind: reason === undefined ? "unexplained" : "expected", cause, count: 1 };
    });
    const wasProven = this.isProven(endpoint);
    this.requests.get(endpoint)?.add(path, resultOf(differences));
    if (wasProven && !this.isProven(endpoint))
      this.#core.observer.event("old_clients_differ", { endpoint, why: this.objection(endpoint) });
    this.differences.add({
      id: path,
      endpoint,
      question: `GET ${path}`,
      at: new Date().toISOString(),
      differences,
      curl: ({ text }) => ({ legacy: `curl -si ${shellQuoted(settings.LEGACY_URL + text(path))}` }),
    });
  }
}
