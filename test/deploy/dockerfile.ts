import { readFileSync } from "node:fs";

const text = readFileSync("deploy/Dockerfile", "utf8");
const commandOf = (instruction: RegExp): string[] => JSON.parse(instruction.exec(text)?.[1] ?? "[]") as string[];

/** What `deploy/Dockerfile` says: commands as lists of arguments, and each copy from the build context with its sources. */
export const dockerfile = {
  entrypoint: commandOf(/^ENTRYPOINT (.*)$/m),
  health: commandOf(/^HEALTHCHECK[^]*?CMD (\[.*\])$/m),
  copies: [...text.matchAll(/^COPY (?!--from)(.*) (\S+)$/gm)].map(([, from = "", to = ""]) => ({
    from: from.split(" "),
    to,
  })),
  environment: [...(/^ENV ([^]*?[^\\])$/m.exec(text)?.[1] ?? "").matchAll(/(\w+)=/g)].map(([, name]) => String(name)),
};
