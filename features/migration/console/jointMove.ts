import type { Migration } from "../migration.ts";
import { isForward, isSameStage, type MoveNote, type Stage } from "../stage.ts";
import type { Parity } from "../gate.ts";
import type { JointMoveRequest } from "./moveBodies.ts";

/** A step towards modern against the evidence. */
type Objection = { endpoint: string; to: Stage; why: string; evidence: Parity };

/** An endpoint that has not moved, because its move could not be stored. */
type FailedMove = { endpoint: string; why: string };

/** Attempts to move an endpoint: each fails if another move comes first. */
const MAX_ATTEMPTS = 3;

/** The moves of many endpoints that an operator asks for at once. */
export class JointMove {
  readonly #migration: Migration;
  readonly #request: JointMoveRequest;
  /** The steps against the evidence that have no reason: these endpoints do not move. */
  readonly held: readonly Objection[];

  constructor(migration: Migration, request: JointMoveRequest) {
    this.#migration = migration;
    this.#request = request;
    const objections = migration.endpoints.flatMap((endpoint): Objection[] => {
      const to = this.#destination(endpoint);
      const against = to && migration.against(endpoint, to);
      return to && against ? [{ endpoint, to, ...against }] : [];
    });
    this.held = request.despite === undefined ? objections : [];
  }

  /** True if no endpoint moves. A move of the reads is refused only if each step is held up, others if one step is. */
  isRefused(): boolean {
    const isFree = (endpoint: string) => this.#destination(endpoint) !== undefined && !this.#isHeld(endpoint);
    return this.held.length > 0 && !(this.#request.endpoints === "reads" && this.#migration.endpoints.some(isFree));
  }

  /** Moves the endpoints that are not held up. */
  async carryOut(): Promise<{ moved: string[]; failed: FailedMove[] }> {
    const moved: string[] = [];
    const failed: FailedMove[] = [];
    const at = new Date().toISOString();
    const moveOne = async (endpoint: string): Promise<void> => {
      if (this.#isHeld(endpoint)) return;
      let to = this.#destination(endpoint);
      for (let i = 0; i < MAX_ATTEMPTS && to; i++, to = this.#destination(endpoint)) {
        const { by, why } = this.#request;
        if (await this.#migration.stages.move(endpoint, to, by, why, this.#note(endpoint, to, at)))
          return void moved.push(endpoint);
      }
      if (to) failed.push({ endpoint, why: "others move it at the same time" });
    };
    await Promise.all(
      this.#migration.endpoints.map((endpoint) =>
        moveOne(endpoint).catch((error: Error) => void failed.push({ endpoint, why: error.message })),
      ),
    );
    return { moved, failed };
  }

  /** The reads that do not move: those that are there or further already, and those held up, each with the reason. */
  unmoved(): { stayed: string[]; held: Record<string, string> } | undefined {
    if (this.#request.endpoints === undefined) return undefined;
    const migration = this.#migration;
    const isThere = (endpoint: string) => migration.isRead(endpoint) && this.#destination(endpoint) === undefined;
    return {
      stayed: migration.endpoints.filter(isThere),
      held: Object.fromEntries(this.held.map(({ endpoint, why }) => [endpoint, why])),
    };
  }

  /** The stage to which an endpoint moves; `undefined` if it stays. Reads that are further stay. */
  #destination(endpoint: string): Stage | undefined {
    const { stage, share = 100, endpoints } = this.#request;
    if (stage === "former") return this.#migration.stages.undoable(endpoint)?.from;
    if (stage === "lost") return this.#migration.stages.lost(endpoint);
    const [at, to] = [this.#migration.stages.of(endpoint), { stage, share }];
    if (endpoints === undefined) return at.stage === "legacy" ? undefined : to;
    return !this.#migration.isRead(endpoint) || isSameStage(at, to) || isForward(to, at) ? undefined : to;
  }

  #isHeld(endpoint: string): boolean {
    return this.held.some((objection) => objection.endpoint === endpoint);
  }

  /** `at`: the time of this request. */
  #note(endpoint: string, to: Stage, at: string): MoveNote {
    const { stage, despite } = this.#request;
    return {
      // Setting lost stages again is not a move of many endpoints, which could be undone.
      all: stage === "former" ? this.#migration.stages.undoable(endpoint)?.all : stage === "lost" ? undefined : at,
      ...this.#migration.noteOf(endpoint, to, despite),
    };
  }
}
