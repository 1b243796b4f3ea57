import { fileURLToPath } from "node:url";
import { legacyHandlers } from "../../../fixtures/legacyHandlers.ts";
import { serveHandlers } from "../../../fixtures/serveHandlers.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { trafficMapper } from "../corpus/mapTraffic.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { recordCommand } from "./command.ts";
import type { Exchange } from "./exchange.ts";

const openReplay = async (exchanges: Exchange[]) => {
  const served = await serveHandlers();
  served.use(legacyHandlers(exchanges));
  return served;
};

process.exitCode = await recordCommand(process.argv.slice(2), process.env, {
  catalogue,
  folder: fileURLToPath(new URL("../../../fixtures", import.meta.url)),
  openReplay,
  print: console.log,
  complain: console.error,
  readCorpus: (file) => readCorpus(file, trafficMapper(catalogue.endpoints)).requests,
});
