import { parseArgs } from "node:util";

/** The command line of `catalog-gateway-kit serve`. Empty `endpoints`: all endpoints. */
type KitArguments = {
  port: number;
  host: string;
  prefix: string;
  legacyPath: string;
  endpoints: string[];
  example?: string;
};

const options = {
  port: { type: "string", default: "9000" },
  host: { type: "string", default: "127.0.0.1" },
  prefix: { type: "string", default: "/v1" },
  "legacy-path": { type: "string", default: "/api/v1" },
  endpoint: { type: "string", multiple: true, default: [] as string[] },
  example: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** The text of `--help`. */
export const kitUsage = `catalog-gateway-kit serve [--port 9000] [--host 127.0.0.1] [--endpoint NAME]... [--example NAME]
  Serves the new interface and the legacy one from the recorded pairs, for the tests of a client in any language.

  --port NUMBER         the port; 0 takes a free one, which is printed (default 9000)
  --host ADDRESS        the address to listen at (default 127.0.0.1)
  --endpoint NAME       only the pairs of this endpoint, such as getDataset; may be given several times
  --example NAME        only the pairs of this name, such as database-down: how a test chooses an error
  --prefix PATH         where the new interface lies (default /v1)
  --legacy-path PATH    where the legacy interface lies (default /api/v1)

  A request that no pair answers gets 501, with the closest pairs in its body.
  Exit codes: 0 stopped by SIGINT or SIGTERM, 2 could not start.
`;

/** Reads the arguments. An error says what was given and what is allowed. */
export const readKitArguments = (args: string[]): KitArguments | { error: string } | { help: true } => {
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const allowed = Object.keys(options).map((name) => `--${name}`);
    return { error: `${(error as Error).message.split(". ")[0]}; allowed are ${allowed.join(", ")}` };
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { help: true };
  if (positionals.join(" ") !== "serve")
    return { error: `${positionals.join(" ") || "no command"}: the one command is serve; see --help` };
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535)
    return { error: `--port: ${values.port} given; allowed is a number from 0 to 65535` };
  const paths = { prefix: values.prefix, "legacy-path": values["legacy-path"] };
  for (const [name, path] of Object.entries(paths))
    if (!/^(\/[\w.~-]+)+$/.test(path)) return { error: `--${name}: ${path} given; allowed is a path such as /v1` };
  return {
    port,
    host: values.host,
    prefix: values.prefix,
    legacyPath: values["legacy-path"],
    endpoints: values.endpoint,
    ...(values.example === undefined ? {} : { example: values.example }),
  };
};
