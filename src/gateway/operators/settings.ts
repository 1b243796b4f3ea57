import { isIPv6 } from "node:net";
import { z } from "zod";
import { fields, type Settings, type SettingsFragment } from "../../operation/index.ts";

const tokenField = fields.text("16-256 characters without blanks", /^[\x21-\x7e]{16,256}$/).optional();

const MAX_PORT = 65_535;

const shape = {
  ADMIN_PORT: z
    .int()
    .min(0)
    .max(MAX_PORT)
    .optional()
    .describe("Port of the operators' listener, `PORT` + 10000 without it. 0 takes a free one"),
  ADMIN_HOST: fields.host
    .default("127.0.0.1")
    .describe("Address of the operators' listener. Others than loopback need `ADMIN_TOKEN`"),
  ADMIN_NAMES: z
    .array(fields.text("host names such as gateway.internal, without a port", /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/))
    .max(100)
    .default([])
    .meta({ examples: [["gateway.internal"]] })
    .describe(
      "Further host names (`gateway.internal`) by which operators reach it without a token. Or the page that asks them for one",
    ),
  ADMIN_TOKEN: tokenField.describe(
    "Token that operators send as `Authorization: Bearer TOKEN`. Required unless `ADMIN_HOST` is a loopback address",
  ),
  METRICS_TOKEN: tokenField.describe("Token that `/metrics` takes too. So Prometheus does not need `ADMIN_TOKEN`"),
};

const secrets = ["ADMIN_TOKEN", "METRICS_TOKEN"];

// Gateways of one machine have public ports beside each other, so the operators' ports lie apart from them.
const defaultsOf = ({ PORT }: Settings) => ({ ADMIN_PORT: PORT === 0 ? 0 : PORT + 10_000 });

/** True where one port cannot be had for both hosts. `::` takes the addresses of IPv4 too. */
const overlap = (host: string, other: string): boolean => {
  const [a = "", b = ""] = [host, other].map((name) => name.replace(/^localhost$/i, "127.0.0.1"));
  return a === b || [a, b].includes("::") || ([a, b].includes("0.0.0.0") && !isIPv6(a) && !isIPv6(b));
};

const errorsOf = ({ HOST, PORT, ADMIN_PORT, ADMIN_HOST, ADMIN_TOKEN }: OperatorsSettings): string[] => [
  ...(PORT === 0 || PORT !== ADMIN_PORT || !overlap(HOST, ADMIN_HOST)
    ? []
    : [
        `ADMIN_PORT: ${ADMIN_PORT} given, which is PORT, on ADMIN_HOST ${ADMIN_HOST} and HOST ${HOST}; allowed is another port, 0 for a free one`,
      ]),
  ...(ADMIN_PORT <= MAX_PORT
    ? []
    : [`ADMIN_PORT: nothing given, and PORT ${PORT} + 10000 is no port; allowed is an integer from 0 to ${MAX_PORT}`]),
  ...(ADMIN_TOKEN !== undefined || /^(127\.[\d.]+|localhost|::1|\[::1\])$/.test(ADMIN_HOST)
    ? []
    : [
        `ADMIN_HOST: ${JSON.stringify(ADMIN_HOST)} given without an ADMIN_TOKEN; allowed is a loopback address, or one with a token`,
      ]),
];

/** The settings of the operators' listener. */
export const settings = { shape, group: "Operators", secrets, defaultsOf, errorsOf } satisfies SettingsFragment;

/** All settings, with those of the operators' listener. */
export type OperatorsSettings = Settings & z.infer<z.ZodObject<typeof shape>> & { ADMIN_PORT: number };
