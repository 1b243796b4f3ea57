import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { legacyHandlers } from "../../../fixtures/legacyHandlers.ts";
import { serveHandlers } from "../../../fixtures/serveHandlers.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { runCommand } from "../runCommand.ts";
import { recordCommand } from "./command.ts";
import type { Exchange } from "./exchange.ts";

const tools = {
  catalogue,
  environment: process.env,
  print: console.log,
  complain: console.error,
  signal: new AbortController().signal,
  exit: (code: number) => void (process.exitCode = code),
  folder: fileURLToPath(new URL("../../../fixtures", import.meta.url)),
  async openReplay(exchanges: Exchange[]) {
    const served = await serveHandlers();
    served.use(legacyHandlers(exchanges));
    return served;
  },
};
await runCommand(recordCommand(new Command("npm run record --"), tools), process.argv.slice(2), tools);
