import { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import { hostField } from "../../settings/fields.ts";

const tokenField = z
  .string()
  .regex(/^[\x21-\x7e]{16,256}$/, "16-256 characters without blanks")
  .optional();

const shape = {
  ADMIN_PORT: z.int().min(0).max(65_535).default(8001).describe("the port for operators; 0 takes any free one"),
  ADMIN_HOST: hostField
    .default("127.0.0.1")
    .describe("the address for operators; others than loopback need an ADMIN_TOKEN"),
  ADMIN_NAMES: z
    .array(
      z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "host names such as gateway.internal, without a port"),
    )
    .max(100)
    .default([])
    .describe("further host names by which operators reach it without a token"),
  ADMIN_TOKEN: tokenField.describe("what operators have to send as Authorization: Bearer TOKEN"),
  METRICS_TOKEN: tokenField.describe("what /metrics takes as well, so that Prometheus need not have ADMIN_TOKEN"),
};

const secrets = ["ADMIN_TOKEN", "METRICS_TOKEN"];

const errorsOf = ({ ADMIN_HOST, ADMIN_TOKEN }: { ADMIN_HOST: string; ADMIN_TOKEN?: string | undefined }): string[] =>
  ADMIN_TOKEN !== undefined || /^(127\.[\d.]+|localhost|::1|\[::1\])$/.test(ADMIN_HOST)
    ? []
    : [
        `ADMIN_HOST: ${JSON.stringify(ADMIN_HOST)} given without an ADMIN_TOKEN; allowed is a loopback address, or one with a token`,
      ];

/** What the feature adds to the settings. */
export const consoleSettings = { shape, secrets, errorsOf };

/** All settings with those of the feature. */
export type ConsoleSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
