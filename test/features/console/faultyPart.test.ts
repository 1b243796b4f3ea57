import { expect, test } from "vitest";
import { consoleApp } from "../../../features/console/consoleApp.ts";
import { operatorsApp } from "../../../src/gateway/operators/app.ts";
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
  const { core, observer } = await gatewayFor(
    "http://127.0.0.1:9",
    {},
    { features: [{ open: () => ({ console: bad }) }] },
  );
  const app = consoleApp(core, operatorsApp, { host: "127.0.0.1" }, "http://127.0.0.1:8000/v1");
  expect((await app.request("/planted", { headers: { Host: "127.0.0.1" } })).status).toBe(500);
  expect(observer.counts()).toEqual({ internal_error: 1 });
  expect((await app.request("/healthz")).status).toBe(200);
});
