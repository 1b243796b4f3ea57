import { expect, test } from "vitest";
import { consoleFor } from "./consoleFor.ts";
import type { ConsolePart } from "../../../libraries/ui/consolePart.ts";
import { gatewayFor } from "../../support/gateway.ts";

test("an error in a feature's part of the page costs one answer", async () => {
  const bad: ConsolePart = {
    routes(app) {
      app.get("/planted", () => {
        throw new TypeError("planted");
      });
    },
  };
  const gateway = await gatewayFor("http://127.0.0.1:9", {});
  const app = consoleFor({ ...gateway, consoleParts: [bad] });
  expect((await app.request("/planted", { headers: { Host: "127.0.0.1" } })).status).toBe(500);
  expect(gateway.observer.counts()).toEqual({ internal_error: 1 });
  expect((await app.request("/healthz")).status).toBe(200);
});
