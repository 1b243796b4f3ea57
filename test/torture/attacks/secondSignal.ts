import { type Attack, holds } from "../lib/attack.ts";
import { ask } from "../lib/client.ts";
import { holdsWithin, sleep } from "../../support/waiting.ts";

export const secondSignal: Attack = {
  name: "second-signal",
  what: "Two signals half a millisecond apart, as npm and a process group send them, cut what is in flight.",
  async run({ startGateway, openUpstream }) {
    let asked = 0;
    const upstream = await openUpstream((_, response) => {
      asked++;
      response.write("half ");
      setTimeout(() => response.end("whole"), 3000);
    });
    const run = async (apart: number) => {
      const before = asked;
      const { port, child } = await startGateway({ LEGACY_URL: upstream.url });
      const answer = ask(port, "/slow");
      await holdsWithin(() => asked > before, 5000);
      const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve));
      const began = performance.now();
      child.kill("SIGTERM");
      await sleep(apart);
      child.kill("SIGTERM");
      return { status: (await answer).status, code: await ended, ms: performance.now() - began };
    };
    const close = await run(0.6);
    const late = await run(1500);
    return [
      holds(
        "an answer in flight, signals 0.6 ms apart",
        close.status === 200 ? "whole" : "cut",
        "whole",
        close.status === 200,
      ),
      holds("exit code", String(close.code), "0", close.code === 0),
      holds(
        "signals 1.5 s apart",
        `ended after ${late.ms.toFixed(0)} ms with ${late.code}`,
        "at once, with 1",
        late.ms < 2500 && late.code === 1,
      ),
    ];
  },
};
