import { datasetBody } from "./bodies.ts";
import { startFilled } from "./cache.ts";
import { type BenchOptions, type Contender, race, reportRace } from "./race.ts";

const path = "/v1/datasets/301";

/** What a hit costs with each access log, whose lines go into a pipe that is read. */
export const benchLog = async (options: BenchOptions): Promise<void> => {
  const start = async (name: string, settings: Record<string, string>): Promise<Contender> => {
    const { ours } = await startFilled(datasetBody(), path, settings);
    return { ...ours, name };
  };
  const contenders = [
    await start("off", { ACCESS_LOG: "off" }),
    await start("errors", { ACCESS_LOG: "errors" }),
    await start("all", { ACCESS_LOG: "all" }),
  ];
  reportRace("hits with an access log", await race(contenders, options), [
    ["errors", "off", { cpu: "1.02 or less" }],
    ["all", "off", { cpu: "1.10 or less" }],
  ]);
};
