import { createHmac } from "node:crypto";

/** The headers of a message (Standard Webhooks 1.0). `secret`: base64, with or without `whsec_` before. `seconds`: since the epoch. */
export const signedHeaders = (secret: string, id: string, seconds: number, body: string): Record<string, string> => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "Content-Type": "application/json",
    "Webhook-Id": id,
    "Webhook-Timestamp": String(seconds),
    "Webhook-Signature": `v1,${signature}`,
  };
};
