import type { Attack, Check, Context } from "./attack.ts";
import { startProgram } from "../../support/program.ts";
import { openRandom, scrambled } from "./random.ts";
import { openRawUpstream, openUpstream } from "./upstreams.ts";

/** `progress` reports how far the attack has come. */
type RunOptions = { seed: number; requests: number; progress?: (text: string) => void };

/** Runs an attack and closes all that it opened. An attack that throws did not hold, and its check says why. */
export const runAttack = async (attack: Attack, { seed, requests, progress }: RunOptions): Promise<Check[]> => {
  const closers: (() => unknown)[] = [];
  const closing = <T>(opened: T, close: () => unknown): T => {
    closers.unshift(close);
    return opened;
  };
  const context: Context = {
    seed,
    requests,
    random: openRandom(seed, scrambled(attack.name)),
    async startGateway(settings) {
      // The prefix alone would lead to the documents, of which the model knows nothing.
      const program = await startProgram({ DOCUMENTS: "false", LOG_LEVEL: "error", ...settings });
      return closing(program, () => program.child.kill("SIGKILL"));
    },
    async openUpstream(listener) {
      const upstream = await openUpstream(listener);
      return closing(upstream, () => upstream.close());
    },
    async openRawUpstream(answer) {
      const upstream = await openRawUpstream(answer);
      return closing(upstream, () => upstream.close());
    },
    onEnd: (close) => void closers.unshift(close),
    progress: progress ?? (() => undefined),
  };
  try {
    return await attack.run(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ what: "the attack came to its end", measured: message, bound: "no exception", holds: false }];
  } finally {
    for (const close of closers) close();
  }
};
