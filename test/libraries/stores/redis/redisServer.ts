import { onTestFinished } from "vitest";
import { describeWith } from "../../../support/needs.ts";
import { openRedis } from "./openRedis.ts";

/** As `describe`, for tests with a real redis-server. */
export const describeWithRedis = (name: string, tests: () => void): void => describeWith("redis-server", name, tests);

/** A real Redis on a free port, until the end of the test. `keeps`: its data survive a restart. */
export const startRedis = async (options: Parameters<typeof openRedis>[0] = {}) => {
  const redis = await openRedis(options);
  onTestFinished(redis.kill);
  return redis;
};
