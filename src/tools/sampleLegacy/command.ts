import type { Command } from "commander";
import { numberFrom } from "../optionValues.ts";
import type { CommandTools } from "../runCommand.ts";
import { startSampleLegacy } from "./startSampleLegacy.ts";

/** Gives a command the options of `sample`, and its action: the server runs until the process ends. */
export const sampleCommand = (command: Command, { print }: Pick<CommandTools, "print">): Command =>
  command
    .option("--port <port>", "the port; 0 takes a free one, which is printed", numberFrom(0, 65_535), 8080)
    .option("--host <address>", "the address to listen at", "127.0.0.1")
    .action(async ({ port, host }: { port: number; host: string }) => {
      const { url } = await startSampleLegacy({ port, host });
      print(`the sample legacy listens on ${url}: LEGACY_URL=${url} npm start`);
    });
