import { type DifferenceResult, differenceResults, resultOf } from "../../libraries/compare/difference.ts";
import type { LedgerEntry } from "../../libraries/compare/ledger.ts";
import type { Core } from "../../src/gateway/index.ts";
import { type ComparedRequests, openComparedRequests } from "./comparedRequests.ts";
import { type ComparedAnswer, type DifferenceView, type NewDifference, openDifferences } from "./differences.ts";
import { OldClients } from "./oldClients.ts";
import { openLedgerInForce } from "./ledgerInForce.ts";
import { openSavedEvidence, type StoredEvidence } from "./savedEvidence.ts";
import { Track } from "./track.ts";

/** The ledger and the evidence with which the comparisons begin. */
export type StoredComparisons = {
  expected: readonly LedgerEntry[];
  evidence: StoredEvidence;
};

type ComparisonsSettings = StoredComparisons & {
  core: Pick<Core, "meter" | "catalogue" | "events" | "observer" | "provedReads" | "settings">;
  /** Called with each unexplained difference that is new. */
  onUnexplained: (difference: NewDifference) => void;
};

/** The comparisons of both sides: the evidence on each endpoint, the differences, and the ledger of those expected. */
export class Comparisons {
  readonly tracks: ReadonlyMap<string, Track>;
  readonly differences: ReturnType<typeof openDifferences>;
  readonly oldClients: OldClients;
  readonly ledger: ReturnType<typeof openLedgerInForce>;
  readonly #requests: ReadonlyMap<string, ComparedRequests>;
  readonly #savedEvidence: ReturnType<typeof openSavedEvidence>;
  readonly #countResult: ReturnType<typeof countComparisons>;

  constructor(settings: ComparisonsSettings) {
    const { endpoints } = settings.core.catalogue;
    const requests = new Map(Object.keys(endpoints).map((name) => [name, openComparedRequests()]));
    const isWrite = (name: string): boolean => endpoints[name]?.writes !== undefined;
    this.#requests = requests;
    this.tracks = new Map([...requests].map(([name, compared]) => [name, new Track(compared, isWrite(name))]));
    this.differences = openDifferences((difference) => {
      if (difference.kind === "unexplained") settings.onUnexplained(difference);
    });
    this.oldClients = new OldClients(settings.core);
    this.ledger = openLedgerInForce(settings.expected);
    const ofOldClients = [...this.oldClients.requests].map(([name, compared]) => [`${name} old`, compared] as const);
    this.#savedEvidence = openSavedEvidence(settings.evidence, new Map([...requests, ...ofOldClients]));
    this.#countResult = countComparisons(settings.core.meter);
  }

  /** Records a comparison of both sides on one request. */
  add(answer: ComparedAnswer): void {
    const { id, endpoint, differences } = answer;
    this.#countResult(resultOf(differences));
    this.tracks.get(endpoint)?.compared(id, differences);
    this.ledger.note(differences);
    this.differences.add(answer);
  }

  /** The differences of one kind, and those of old clients. */
  view(kind: DifferenceView["kind"]): DifferenceView[] {
    return [...this.differences.view(kind), ...this.oldClients.differences.view(kind)];
  }

  /** Puts a new ledger in force, and removes the unexplained differences that it allows. */
  replaceLedger(entries: readonly LedgerEntry[]): void {
    this.ledger.replace(entries);
    const today = this.ledger.today();
    this.differences.remove(
      (group) => group.kind === "unexplained" && today.allowing(group.endpoint, group) !== undefined,
    );
    const unexplained = new Set(this.differences.view("unexplained").map(({ endpoint }) => endpoint));
    for (const [name, compared] of this.#requests) if (!unexplained.has(name)) compared.allow();
  }

  /** Saves the evidence. */
  close(): Promise<void> {
    return this.#savedEvidence.close();
  }
}

/** Counts the comparisons, each answer by its worst difference. */
const countComparisons = (meter: Core["meter"]): ((result: DifferenceResult) => void) => {
  const help = "Answers compared on both sides, by their worst difference.";
  const comparisons = meter.counter("comparisons_total", help, ["result"]);
  for (const result of differenceResults) comparisons(result);
  return (result) => void comparisons(result).value++;
};
