import { z } from "zod";
import { fields, type Settings, type SettingsFragment } from "../../src/operation/index.ts";

const isWebhookUrl = (text: string): boolean =>
  /^https?:\/\/\S+$/.test(text) && URL.canParse(text) && new URL(text).username === "" && new URL(text).hash === "";

const aUrl = "a URL such as https://hooks.example/gateway, without a user";

const shape = {
  WEBHOOK_URL: z
    .string(aUrl)
    .refine(isWebhookUrl, aUrl)
    .optional()
    .describe("URL that gets moves, demotions, new unexplained differences, floods and incidents, by POST"),
  WEBHOOK_SECRET: fields
    .text("24 to 64 random bytes in base64, with or without whsec_ before", /^(whsec_)?[A-Za-z0-9+/]{32,88}={0,2}$/)
    .optional()
    .describe(
      "Secret that signs the messages (Standard Webhooks): 24 to 64 random bytes in base64. Make one with `openssl rand -base64 32`; required with `WEBHOOK_URL`",
    ),
};

// The URL of a chat service is its password.
const secrets = ["WEBHOOK_SECRET", "WEBHOOK_URL"];

const errorsOf = ({ WEBHOOK_URL, WEBHOOK_SECRET }: WebhookSettings): string[] =>
  (WEBHOOK_URL === undefined) === (WEBHOOK_SECRET === undefined)
    ? []
    : [
        WEBHOOK_URL === undefined
          ? "WEBHOOK_SECRET: given without WEBHOOK_URL; allowed is both or neither"
          : "WEBHOOK_URL: given without WEBHOOK_SECRET; allowed is both or neither: make one with openssl rand -base64 32",
      ];

export const settings = {
  shape,
  group: "Webhook",
  secrets,
  isOn: ({ WEBHOOK_URL }: WebhookSettings): boolean => WEBHOOK_URL !== undefined,
  errorsOf,
} satisfies SettingsFragment;

export type WebhookSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
