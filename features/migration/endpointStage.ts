import { MAX_MOVES } from "./auditLog.ts";
import { callersOf, isSameStage, type Move, type MoveNote, type Stage, type StageInForce } from "./stage.ts";
import type { StageRecord, StageStore } from "./stageStore.ts";

export type EndpointStageSettings = {
  store: StageStore;
  /** Called with each line of the audit log that this process has stored. */
  onStored: (move: Move) => void;
  now?: () => Date;
};

const defaultStage: Stage = { stage: "legacy", share: 100 };

/**
 * The stage of one endpoint. In force is the stage that was set last: at run time, which the store holds for all
 * gateways, or by a change of the configuration. If nothing was set, the configured stage is in force.
 */
export class EndpointStage {
  readonly endpoint: string;
  /** Changes with `refresh` alone. */
  inForce: StageInForce;
  /** Old clients have followed a move, and modern has had callers since. Changes with `refresh` alone. */
  hasOldClients = false;
  readonly #settings: EndpointStageSettings;
  #configured: Stage;
  /** A configured stage that is in force here, and that the store does not have yet; with the stage before it. */
  #unstored: { from: StageInForce; to: StageInForce } | undefined;
  /** The record that was read last. It stays here if Redis loses it. */
  #lastRecord: StageRecord | undefined;
  #isLost = false;

  /** `configured`: the configured stage; `undefined` if the configuration does not name the endpoint. */
  constructor(endpoint: string, configured: Stage | undefined, settings: EndpointStageSettings) {
    this.endpoint = endpoint;
    this.#settings = settings;
    this.#configured = stageAndShare(configured ?? defaultStage);
    this.#lastRecord = this.#record();
    this.inForce = this.#lastRecord?.stage ?? this.#asConfigured(configured ? "as configured" : "default");
  }

  /** The moves that the store holds, the newest first. */
  get moves(): readonly Move[] {
    return this.#record()?.moves ?? [];
  }

  /** The stage that Redis has lost; `undefined` if it has lost none, or if another stage was set since. */
  get lost(): Stage | undefined {
    const stage = this.#record() === undefined ? this.#lastRecord?.stage : undefined;
    return stage === undefined || isSameStage(this.inForce, stage) ? undefined : stageAndShare(stage);
  }

  /** Reads the store again. `isLost`: Redis has lost the record since the last call. */
  refresh(): { from: StageInForce; to: StageInForce; isLost: boolean } {
    const [from, record, wasLost] = [this.inForce, this.#record(), this.#isLost];
    this.#isLost = record === undefined && this.#lastRecord !== undefined;
    this.#lastRecord = record ?? this.#lastRecord;
    const isLost = this.#isLost && !wasLost;
    this.inForce =
      isLost && this.#unstored === undefined
        ? this.#asConfigured("Redis has lost the stage that was set")
        : this.#latest();
    const away = this.moves.findIndex(({ to }) => callersOf(to) === 0);
    this.hasOldClients = this.moves.slice(0, away < 0 ? undefined : away).some(({ oldClients }) => oldClients);
    return { from, to: this.inForce, isLost };
  }

  /** Takes over a new configuration. True if it is to be applied: if no gateway has done so yet. */
  configure(configured: Stage = defaultStage): boolean {
    const hasChanged = !isSameStage(configured, this.#configured);
    this.#configured = stageAndShare(configured);
    return hasChanged && this.isOutdated();
  }

  /** True if the stage in force was set under another configuration. */
  isOutdated(): boolean {
    return this.#latest().configured !== this.#configuredText();
  }

  /** Puts the configured stage in force from the next `refresh` on. Setting the same stage again is not a move. */
  applyConfigured(): void {
    const from = this.#latest();
    const to = isSameStage(from, this.#configured)
      ? { ...from, configured: this.#configuredText() }
      : this.#asConfigured("the configuration changed");
    this.#unstored = { from, to };
  }

  /**
   * Stores the applied configuration, so that the other gateways and a restart use the same. If another move came
   * first, that stays in force.
   *
   * @throws If the store does not confirm the write. The configured stage then stays in force here.
   */
  async storeConfigured(): Promise<void> {
    const unstored = this.#unstored;
    if (unstored === undefined) return;
    const { from, to } = unstored;
    if (isSameStage(from, to)) await this.#storeConfiguration(to);
    else await this.#storeMove(from, to);
    if (this.#unstored === unstored) this.#unstored = undefined;
  }

  /**
   * Moves the endpoint. If it has this stage and share already, nothing changes, unless Redis has lost another stage,
   * or old clients are to follow it.
   *
   * @returns False if another move came first.
   * @throws If the store does not confirm the write.
   */
  async move(to: Stage, by: string, why: string, note: MoveNote = {}): Promise<boolean> {
    if (isSameStage(this.inForce, to) && this.lost === undefined && (!note.oldClients || this.hasOldClients))
      return true;
    const isMoved = await this.#storeMove(this.inForce, this.#stageFromNow(to, by, why), note);
    if (isMoved) this.#unstored = undefined;
    return isMoved;
  }

  #record(): StageRecord | undefined {
    return this.#settings.store.get(this.endpoint);
  }

  /** The stage that was set last, also by a gateway with another configuration. */
  #latest(): StageInForce {
    const [stored, unstored] = [this.#record()?.stage, this.#unstored?.to];
    if (stored === undefined || unstored === undefined) return stored ?? unstored ?? this.inForce;
    return unstored.since < stored.since ? stored : unstored;
  }

  #asConfigured(why: string): StageInForce {
    return this.#stageFromNow(this.#configured, "configuration", why);
  }

  #stageFromNow(to: Stage, by: string, why: string): StageInForce {
    return {
      ...stageAndShare(to),
      since: (this.#settings.now?.() ?? new Date()).toISOString(),
      by,
      why,
      configured: this.#configuredText(),
    };
  }

  #configuredText(): string {
    return JSON.stringify(this.#configured);
  }

  /** Stores a stage and its line of the audit log; false if another gateway has moved the endpoint meanwhile. */
  async #storeMove(from: Stage, to: StageInForce, note: MoveNote = {}): Promise<boolean> {
    const { endpoint } = this;
    const { since: at, by, why } = to;
    const move: Move = { at, endpoint, by, why, ...note, from: stageAndShare(from), to: stageAndShare(to) };
    const seen = this.#record()?.stage.since;
    const isStored = await this.#settings.store.update(endpoint, (latest) =>
      latest?.stage.since === seen
        ? // The moves that Redis has lost come back with the next move.
          { stage: to, moves: [move, ...((latest ?? this.#lastRecord)?.moves ?? [])].slice(0, MAX_MOVES) }
        : undefined,
    );
    if (isStored) this.#settings.onStored(move);
    return isStored;
  }

  /** Stores the configuration under which a stage stays in force, unless another gateway has moved the endpoint. */
  async #storeConfiguration({ since, configured }: StageInForce): Promise<void> {
    if (this.#record() === undefined) return;
    await this.#settings.store.update(this.endpoint, (latest) =>
      latest?.stage.since === since ? { ...latest, stage: { ...latest.stage, configured } } : undefined,
    );
  }
}

const stageAndShare = ({ stage, share }: Stage): Stage => ({ stage, share });
