import { shellQuoted } from "../../libraries/compare/curls.ts";
import { type Difference, type ResultCounts, resultOf, zeroCounts } from "../../libraries/compare/difference.ts";
import { type Endpoint, lossReason } from "../../src/catalogue/index.ts";
import type { Core, OldAnswerRead } from "../../src/gateway/index.ts";
import { type ComparedRequests, openComparedRequests } from "./comparedRequests.ts";
import { openDifferences } from "./differences.ts";
import type { OldEvidence } from "./gate.ts";
import { isIn, type MigrationSettings } from "./settings.ts";

type ReadingCore = Pick<Core, "catalogue" | "events" | "provedReads" | "settings">;

/**
 * The evidence on endpoints whose old clients follow the stage: legacy's documents for them, compared with ours written
 * back in legacy's form.
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
    core.events.on("oldAnswerRead", (answer) => this.#add(answer));
  }

  /** Sets the endpoints whose old clients follow the stage, once the evidence holds. */
  follow(endpoints: readonly string[]): void {
    const { provedReads } = this.#core;
    provedReads.clear();
    for (const name of endpoints) provedReads.add(name);
  }

  /** The evidence on an endpoint; `undefined` if its old clients do not follow the stage. */
  evidenceOf(endpoint: string): OldEvidence | undefined {
    return this.#core.provedReads.has(endpoint) ? evidenceIn(this.#counts(endpoint)) : undefined;
  }

  /** True if the old clients of an endpoint follow the stage, and nothing speaks against it. Cheap. */
  isProven(endpoint: string): boolean {
    const { compared, unexplained } = this.#counts(endpoint);
    return compared > 0 && unexplained === 0;
  }

  #counts(endpoint: string): ResultCounts {
    return this.requests.get(endpoint)?.counts() ?? none;
  }

  #add({ endpoint, path, lost }: OldAnswerRead): void {
    const { catalogue, settings } = this.#core;
    const losses = catalogue.endpoints[endpoint]?.legacyForm?.losses;
    const differences = lost.map((place): Difference => {
      const reason = lossReason(losses, place);
      const cause = reason === undefined ? `old clients lose ${place}` : `old clients: ${reason}`;
      return {
        path: place,
        at: place,
        form: "lost",
        kind: reason === undefined ? "unexplained" : "expected",
        cause,
        count: 1,
      };
    });
    this.requests.get(endpoint)?.add(path, resultOf(differences));
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

/**
 * The endpoints whose old clients follow the stage: those that `MOVE_LEGACY` names. `all` are those of `CACHE_LEGACY`
 * that need not be named.
 */
export const movedReads = (
  { MOVE_LEGACY: moved, CACHE_LEGACY: cached }: Pick<MigrationSettings, "MOVE_LEGACY" | "CACHE_LEGACY">,
  endpoints: Readonly<Record<string, Endpoint>>,
): string[] =>
  Object.entries(endpoints).flatMap(([name, { legacyForm }]) =>
    moved.includes(name) || (isIn(name, moved) && legacyForm && !legacyForm.isNamedOnly && isIn(name, cached))
      ? [name]
      : [],
  );

const none = zeroCounts();

const evidenceIn = ({ equal, expected, unexplained }: ResultCounts): OldEvidence => ({
  same: equal,
  named: expected,
  others: unexplained,
});
