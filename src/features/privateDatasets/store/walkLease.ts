import { randomUUID } from "node:crypto";
import type { Connection } from "../../sharedCache/connection.ts";
import { type PrivateNames, walkerScripts } from "./redisScripts.ts";

/** That of all instances one walks. */
export type WalkLease = {
  isHeld(): boolean;
  /** Takes it where nobody has it, and makes it last where this instance has. */
  renew(): Promise<void>;
  /** Another one may have it at once. */
  letGo(): Promise<void>;
};

/** The part of it that does not count: a step that is on its way is done before another instance begins. */
const MARGIN = 0.2;

export const openWalkLease = (
  run: Connection["run"],
  { walker, changes }: Pick<PrivateNames, "walker" | "changes">,
  ms: number,
): WalkLease => {
  const self = randomUUID();
  let until = -Infinity;
  return {
    isHeld: () => performance.now() < until,
    async renew() {
      const sentAt = performance.now();
      const isOurs = Number(await run(walkerScripts.hold, [walker], [self, String(ms)])) === 1;
      until = isOurs ? sentAt + ms * (1 - MARGIN) : -Infinity;
    },
    async letGo() {
      until = -Infinity;
      await run(walkerScripts.letGo, [walker], [self, changes]);
    },
  };
};
