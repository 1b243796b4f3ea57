import { expect, onTestFinished } from "vitest";
import { consoleFor } from "../features/console/consoleFor.ts";
import { startStandIn } from "../standIn/startStandIn.ts";
import type { TestGateway } from "../support/gateway.ts";
import { caching } from "./caching.ts";

/** The settings of a gateway whose old clients follow the stage, with a modern over this legacy. */
export const startMovedTo = async (legacyUrl: string) => {
  const { url, asked, close } = await startStandIn({ legacyUrl });
  onTestFinished(() => close());
  return { asked, settings: { ...caching, MODERN_URL: url, MOVE_LEGACY: "all,getFlow,getRun" } };
};

/** Moves all reads to the stage modern, as an operator does. */
export const moveAll = async (gateway: TestGateway, despite: string): Promise<void> => {
  const body = JSON.stringify({ stage: "modern", endpoints: "reads", by: "Ada", why: "a test", despite });
  const headers = { host: "127.0.0.1", "content-type": "application/json" };
  const moved = await consoleFor(gateway).request("http://127.0.0.1/stages", { method: "POST", headers, body });
  expect(moved.status).toBe(200);
};
