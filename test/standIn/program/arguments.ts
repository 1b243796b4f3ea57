import { parseArgs } from "node:util";
import { endpoints } from "../../../transforms/index.ts";
import { type Fault, faultSchema } from "./fault.ts";

/** How the stand-in is started by hand. */
type Arguments = { legacyUrl: string; port: number; path: string; faults: Fault[]; reference: boolean };

const options = {
  legacy: { type: "string" },
  port: { type: "string" },
  path: { type: "string" },
  fault: { type: "string", multiple: true },
  reference: { type: "boolean", default: false },
  help: { type: "boolean", short: "h" },
} as const;

const refuse = (...errors: string[]) => ({ errors });

/** The arguments as they are meant, or what is wrong with them and what is allowed. */
export const readArguments = (args: string[]): Arguments | { errors: string[] } | { help: true } => {
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    return refuse((error as Error).message);
  }
  if (values.help === true) return { help: true };
  const { legacy = "", port = "0", path = "/v1", fault: texts = [], reference } = values;
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(legacy) || !URL.canParse(legacy))
    return refuse("--legacy: needed is the origin of a legacy server, such as http://127.0.0.1:8080");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    return refuse(`--port: ${port} given; allowed is a port, or 0 for any free one`);
  if (!/^\/([\w.~-]+(\/[\w.~-]+)*)?$/.test(path))
    return refuse(`--path: ${path} given; allowed is a path such as /v1, without a slash at its end`);
  const read = texts.map(readFault);
  const errors = read.flatMap((one) => ("wrong" in one ? [one.wrong] : []));
  const faults = read.flatMap((one) => ("fault" in one ? [one] : []));
  return errors.length > 0
    ? { errors }
    : { legacyUrl: new URL(legacy).origin, port: Number(port), path, faults, reference };
};

const readFault = (text: string): Fault | { wrong: string } => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { wrong: `--fault: ${text} is no JSON; allowed is such as {"endpoint":"getDataset","fault":"wrongType"}` };
  }
  const { success, data, error } = faultSchema.safeParse(json);
  if (!success)
    return {
      wrong: `--fault: ${text}: ${error.issues.map(({ path, message }) => [...path, message].join(" ")).join("; ")}`,
    };
  const names = ["*", ...Object.keys(endpoints)];
  return names.includes(data.endpoint) ? data : { wrong: `--fault: ${data.endpoint}; allowed are ${names.join(", ")}` };
};
