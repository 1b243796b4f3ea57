import { sha256 } from "./ask.ts";
import { startPopulated } from "./populated.ts";
import { pseudoRandom } from "./pseudoRandom.ts";

const DISTINCT = 10_000;
const REQUESTS = 200_000;

/** Draws ranks from 0: rank r with a probability in proportion to 1 / (r + 1). */
const zipfRanks = (): number[] => {
  const bounds = new Float64Array(DISTINCT);
  let sum = 0;
  for (let rank = 0; rank < DISTINCT; rank++) bounds[rank] = sum += 1 / (rank + 1);
  const random = pseudoRandom(7);
  return Array.from({ length: REQUESTS }, () => {
    const wanted = random() * sum;
    let [low, high] = [0, DISTINCT - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  });
};

/** The path of a rank; one in twenty is a page of a list. */
const pathOf = (rank: number): string =>
  rank % 20 === 19 ? `/v1/data/list/limit/${[20, 50, 100][rank % 3]}/offset/${rank}` : `/v1/datasets/${rank + 1}`;

/** Measures typical traffic: few paths are requested often, most of them seldom, and the memory is too small for all. */
export const benchZipf = async (): Promise<void> => {
  const { gateway, clients, asked } = await startPopulated(64);
  const ranks = zipfRanks();
  const seen = new Map<string, string>();
  const kinds = { hit: 0, stale: 0, collapsed: 0, miss: 0 };
  await clients.run(REQUESTS, async (i) => {
    const path = pathOf(ranks[i] as number);
    const { status, cacheStatus, bytes } = await clients.ask(path);
    const hash = sha256(bytes);
    if (!seen.has(path)) seen.set(path, hash);
    if (status !== 200 || seen.get(path) !== hash) throw new Error(`${path} answered ${status}, or other bytes`);
    kinds[
      cacheStatus.includes("; hit")
        ? cacheStatus.includes("detail=")
          ? "stale"
          : "hit"
        : cacheStatus.includes("; collapsed")
          ? "collapsed"
          : "miss"
    ]++;
  });
  const { entries, bytes, evicted, bound } = await gateway.cache();
  const hits = kinds.hit + kinds.stale;
  const most = REQUESTS - seen.size;
  const mebi = (value: number) => `${(value / 1024 ** 2).toFixed(1)} MiB`;
  console.log(
    `a day of ${REQUESTS} requests for ${seen.size} of ${DISTINCT} things, in the proportions of Zipf, ${mebi(bound.bytes)}`,
  );
  console.log(
    `  hit ratio ${(hits / REQUESTS).toFixed(3)}, against a cache without a bound ${(hits / most).toFixed(3)} (it would have ${(most / REQUESTS).toFixed(3)})`,
  );
  console.log(
    `  ${await asked()} upstream calls; ${kinds.miss} misses, ${kinds.collapsed} that waited for one, ${kinds.stale} hits that were stale`,
  );
  console.log(`  ${entries} entries, ${mebi(bytes)}, ${evicted} evicted`);
  await clients.close();
};
