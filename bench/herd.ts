import { sha256 } from "./ask.ts";
import { startPopulated } from "./populated.ts";

const CALLERS = 1000;
const KEYS = 6;
const DELAY = 300;

/** Measures many simultaneous requests for an answer that is not cached yet. */
export const benchHerd = async (): Promise<void> => {
  const { clients, asked } = await startPopulated(CALLERS, { DELAY: String(DELAY) });
  // The connections are opened first, so that all requests arrive while the one upstream call is running.
  await clients.run(CALLERS, async () => void (await clients.ask("/v1/datasets/1")));
  const calls: number[] = [];
  const waited: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    const before = await asked();
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => clients.ask(`/v1/datasets/${key + 2}`)));
    calls.push((await asked()) - before);
    waited.push(answers.filter(({ cacheStatus }) => cacheStatus.includes("; collapsed")).length);
    if (answers.some(({ status }) => status !== 200) || new Set(answers.map(({ bytes }) => sha256(bytes))).size !== 1)
      throw new Error(`dataset ${key + 2}: not the same answer for all`);
  }
  console.log(
    `${CALLERS} concurrent misses of one key, legacy answers after ${DELAY} ms, ${KEYS} keys: at most ${Math.max(...calls)} upstream calls a key (aim: 1), at least ${Math.min(...waited)} waited for it`,
  );
  await clients.close();
};
