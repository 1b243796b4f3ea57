import { auditLog, undoableMoves } from "./auditLog.ts";
import { EndpointStage, type EndpointStageSettings } from "./endpointStage.ts";
import {
  type AuditMove,
  type ConfiguredStage,
  isSameStage,
  type Move,
  type MoveNote,
  type Stage,
  type StageInForce,
} from "./stage.ts";

export type StagesSettings = EndpointStageSettings & {
  endpoints: readonly string[];
  configured: Readonly<Record<string, ConfiguredStage>>;
  /** Called for every endpoint that has a new stage or share. */
  onMove: (endpoint: string, from: StageInForce, to: StageInForce) => void;
  /** Called with the endpoints whose stage Redis has lost: their configured stages are in force. */
  onLost: (endpoints: string[]) => void;
  /** Called if a configured stage could not be stored. It stays in force in this gateway until the process ends. */
  onUnwritten: (endpoint: string, error: Error) => void;
};

/**
 * The stages in force: those that were set at run time, unless the configuration has changed since. A configuration
 * that has changed while the gateway was stopped is applied in the background.
 */
export class Stages {
  readonly #settings: StagesSettings;
  readonly #stages: ReadonlyMap<string, EndpointStage>;
  readonly #moving = new Set<string>();
  #configured: StagesSettings["configured"];
  #undoable: ReadonlyMap<string, Move> = new Map();

  constructor(settings: StagesSettings) {
    const { endpoints, configured } = settings;
    this.#settings = settings;
    this.#configured = configured;
    this.#stages = new Map(endpoints.map((name) => [name, new EndpointStage(name, configured[name], settings)]));
    this.#refresh();
    settings.store.onChange(() => this.#refresh());
    const outdated = this.#all().filter((stage) => stage.isOutdated());
    this.#apply(outdated).catch((error: Error) => {
      for (const stage of outdated) this.#settings.onUnwritten(stage.endpoint, error);
    });
  }

  of(endpoint: string): StageInForce {
    return this.#endpoint(endpoint).inForce;
  }

  /** True while a move of this endpoint is being stored. */
  isMoving(endpoint: string): boolean {
    return this.#moving.has(endpoint);
  }

  /** The gate of the configuration. */
  gateOf(endpoint: string): ConfiguredStage["gate"] {
    return this.#configured[endpoint]?.gate;
  }

  /** The move of many endpoints that can be undone for this endpoint; `undefined` without such a move. */
  undoable(endpoint: string): Move | undefined {
    return this.#undoable.get(endpoint);
  }

  /** The stage that was set for this endpoint, if Redis has lost it and no other stage was set since. */
  lost(endpoint: string): Stage | undefined {
    return this.#endpoint(endpoint).lost;
  }

  /** True if old clients followed a move of this endpoint, and modern has had callers since. */
  hasOldClients(endpoint: string): boolean {
    return this.#endpoint(endpoint).hasOldClients;
  }

  /** All moves, the newest first. */
  audit(): AuditMove[] {
    return auditLog([...this.#settings.store.entries().values()].map(({ moves }) => moves));
  }

  /**
   * Moves one endpoint. If it has this stage and share already, nothing changes, unless Redis has lost another stage,
   * or old clients are to follow it. Its gate does not act meanwhile.
   *
   * @returns False if another move came first.
   * @throws If the store does not confirm the write.
   */
  async move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean> {
    this.#moving.add(endpoint);
    try {
      const isMoved = await this.#endpoint(endpoint).move(to, by, why, note);
      this.#refresh();
      return isMoved;
    } finally {
      this.#moving.delete(endpoint);
    }
  }

  /**
   * Applies a new configuration, except where another gateway has applied it already. Endpoints that it
   * does not name are `legacy`.
   */
  async configure(next: Readonly<Record<string, ConfiguredStage>>): Promise<void> {
    this.#configured = next;
    await this.#apply(this.#all().filter((stage) => stage.configure(next[stage.endpoint])));
  }

  #all(): EndpointStage[] {
    return [...this.#stages.values()];
  }

  #endpoint(endpoint: string): EndpointStage {
    return this.#stages.get(endpoint) as EndpointStage;
  }

  /** Reads all stages again, and then reports those that have moved, and those that Redis has lost. */
  #refresh(): void {
    const changes = this.#all().map((stage) => ({ endpoint: stage.endpoint, ...stage.refresh() }));
    this.#undoable = undoableMoves(this.#all().map(({ moves }) => moves));
    for (const { endpoint, from, to } of changes)
      if (!isSameStage(from, to) || from.since !== to.since) this.#settings.onMove(endpoint, from, to);
    const lost = changes.filter(({ isLost }) => isLost).map(({ endpoint }) => endpoint);
    if (lost.length > 0) this.#settings.onLost(lost);
  }

  /** Puts configured stages in force, all at once. Then stores them. */
  async #apply(stages: readonly EndpointStage[]): Promise<void> {
    for (const stage of stages) stage.applyConfigured();
    this.#refresh();
    for (const stage of stages)
      await stage.storeConfigured().catch((error: Error) => this.#settings.onUnwritten(stage.endpoint, error));
    this.#refresh();
  }
}
