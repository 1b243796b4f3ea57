import { expect, test, vi } from "vitest";
import { gatewayFor } from "../../support/gateway.ts";
import { valueOf } from "../../support/metrics.ts";
import { until } from "../../support/waiting.ts";

test("an error while a webhook is posted costs one notice", async () => {
  const hooked = await gatewayFor("http://127.0.0.1:9", {
    WEBHOOK_URL: "http://127.0.0.1:9/",
    WEBHOOK_SECRET: "whsec_MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA=",
  });
  vi.spyOn(hooked.observer, "event").mockImplementationOnce(() => {
    throw new TypeError("planted");
  });
  hooked.core.events.emit("notice", { type: "stage.moved", at: "2026-11-26T00:00:00Z" });
  await until(() => hooked.observer.counts()["internal_error"] === 1);
  expect(await valueOf(hooked.core.meter, "webhook_waiting")).toBe(0);
});
