import { type IndexRecord, indexStoreOver } from "../../../../src/features/privateDatasets/store/indexStore.ts";
import { redisStore, type RedisStoreSettings } from "../../../../src/store/redis/redisStore.ts";
import { startRedis } from "../../../store/redis/redisServer.ts";
import { row, scope, walked } from "./rows.ts";
import { type Instance, openWith } from "./support.ts";
import { until } from "../../../support/waiting.ts";

/** What the names of all keys begin with. */
export const KEY = `catalog-gateway:1:state:private-rows:${scope}:`;

/** An instance in a hurry. */
export const openRedis = (
  url: string,
  { scope: of = scope, ...settings }: Partial<RedisStoreSettings<IndexRecord>> = {},
): Promise<Instance> => {
  const hurry = { interval: 50, renewAfter: 1500, lease: 1500 };
  return openWith(indexStoreOver(of, (about) => redisStore({ ...about, url, ...hurry, ...settings })));
};

export const walkers = (instances: readonly Instance[]): Instance[] => instances.filter(({ store }) => store.mayWalk());

/** When all of them know this. */
export const expectAgreed = (text: string, ...instances: Instance[]): Promise<void> =>
  until(() => instances.every((one) => one.text() === text));

/** What `begin` begins with. */
export const agreed = "1:row 1 2:row 2 @40";

/** A Redis; `a`, who walks, and `b`: they agree on two rows. */
export const begin = async ({ keeps = false } = {}) => {
  const redis = await startRedis({ keeps });
  const a = await openRedis(redis.url);
  await until(() => a.store.mayWalk());
  const b = await openRedis(redis.url);
  a.learn({ rows: [row(1), row(2)], walk: walked(40) });
  await expectAgreed(agreed, a, b);
  return { redis, a, b };
};
