import { z } from "zod";
import { hostField, type Settings, type SettingsFragment } from "../../operation/index.ts";

const tokenField = z
  .string()
  .regex(/^[\x21-\x7e]{16,256}$/, "16-256 characters without blanks")
  .optional();

const shape = {
  ADMIN_PORT: z.int().min(0).max(65_535).default(8001).describe("Port of the operators' listener. 0 takes a free one"),
  ADMIN_HOST: hostField
    .default("127.0.0.1")
    .describe("Address of the operators' listener. Others than loopback need `ADMIN_TOKEN`"),
  ADMIN_NAMES: z
    .array(
      z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "host names such as gateway.internal, without a port"),
    )
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

const errorsOf = ({ ADMIN_HOST, ADMIN_TOKEN }: OperatorsSettings): string[] =>
  ADMIN_TOKEN !== undefined || /^(127\.[\d.]+|localhost|::1|\[::1\])$/.test(ADMIN_HOST)
    ? []
    : [
        `ADMIN_HOST: ${JSON.stringify(ADMIN_HOST)} given without an ADMIN_TOKEN; allowed is a loopback address, or one with a token`,
      ];

export const settings = { shape, group: "Operators", secrets, errorsOf } satisfies SettingsFragment;

export type OperatorsSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
