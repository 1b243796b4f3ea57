import type { Command } from "commander";
import { cannotListen } from "../../src/gateway/index.ts";
import { numberFrom } from "../optionValues.ts";
import type { CommandTools } from "../runCommand.ts";
import { type SampleOutage, outageForms, readOutage } from "./outages.ts";
import { startSampleLegacy } from "./startSampleLegacy.ts";

const forms = Object.entries(outageForms).map(([name, { means }]) => `  ${name.padEnd(20)} ${means}`);

/** Gives a command the options of `sample`, and its action: the server runs until the process ends. */
export const sampleCommand = (command: Command, { print }: Pick<CommandTools, "print">): Command =>
  command
    .option("--port <port>", "the port; 0 takes a free one, which is printed", numberFrom(0, 65_535), 8080)
    .option("--host <address>", "the address to listen at", "127.0.0.1")
    .option(
      "--outage <form>",
      "fail in this form; page-504/flow/exists: at the paths below flow/exists only",
      readOutage,
    )
    .addHelpText("after", `\nForms of outage:\n${forms.join("\n")}`)
    .addHelpText(
      "after",
      "\nPOST /outage/FORM begins one while it runs, DELETE /outage ends it; both from this machine.",
    )
    .action(async (options: { port: number; host: string; outage?: SampleOutage }) => {
      const { url } = await startSampleLegacy(options).catch((error: NodeJS.ErrnoException) => {
        throw cannotListen("--port, --host", options.host, options.port, error);
      });
      print(`the sample legacy listens on ${url}: start the gateway with LEGACY_URL=${url}`);
    });
