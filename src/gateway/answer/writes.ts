import type { Answer } from "../../catalogue/index.ts";
import { allOf } from "../../operation/index.ts";
import type { Cache } from "../cache/cache.ts";
import { groupList } from "../cache/reply.ts";
import { type Served, uncached } from "../cache/served.ts";
import type { WriteFate } from "./answerFunctions.ts";
import type { Context } from "./context.ts";
import { UNCONFIRMED_MS, type UnconfirmedWrites } from "./unconfirmedWrites.ts";

/**
 * A write that legacy or the new implementation has got. `hold`: its answer is lost, so it may have happened or not,
 * and may still be going on for so many milliseconds.
 */
export type Write = {
  groups: readonly string[];
  hold?: number;
  /**
   * A write of the legacy interface: its path, the entities that it names beside its groups, and how its answer begins,
   * in latin1; `undefined` where that is lost.
   */
  proxied?: { path: string; named: readonly string[]; answerText: () => string | undefined };
};

/**
 * Sees a write before its answer goes out, which waits for the promise that this gives: a later read must find what
 * the write has changed.
 */
export type OnWrite = (write: Write) => Promise<void> | undefined | void;

/** All writes go through this: those of endpoints, by legacy or by modern, and those that pass through. */
export type Writes = {
  onWrite: OnWrite;
  /**
   * The answer to a write that a backend has made. What the write may have touched is invalidated before the answer
   * goes out. Where the answer is lost, cached entries are served only while legacy fails. A write that was refused, or
   * cannot have been sent, changes nothing.
   */
  confirm: (
    context: Pick<Context, "endpoint" | "input" | "key">,
    written: { answer: Answer; fate?: WriteFate },
  ) => Promise<Served>;
};

/** Opens `Writes`. `observers` see each write. */
export const openWrites = (
  { cache, unconfirmed }: { cache: Pick<Cache, "invalidate">; unconfirmed: UnconfirmedWrites },
  observers: readonly OnWrite[],
): Writes => {
  const onWrite: OnWrite = (write) => allOf(observers.map((observe) => observe(write)));
  return {
    onWrite,
    async confirm({ endpoint, input, key }, { answer, fate }) {
      const served = uncached(answer, "method");
      // Otherwise any client could empty the cache.
      if (fate === "refused" || answer.status === 401 || answer.status === 403) return served;
      const touched = endpoint.writes?.(input) ?? { groups: [] };
      const { groups } = touched;
      const invalidate = (isLost: boolean): Promise<void> | undefined =>
        allOf([
          onWrite(isLost ? { groups, hold: UNCONFIRMED_MS } : { groups }),
          cache.invalidate(isLost ? { groups, soft: true, hold: UNCONFIRMED_MS } : touched),
        ]);
      await (fate === "unknown" ? unconfirmed.note(key, () => invalidate(true)) : invalidate(false));
      return answer.status === 200 ? { ...served, headers: ["Cache-Group-Invalidation", groupList(groups)] } : served;
    },
  };
};
