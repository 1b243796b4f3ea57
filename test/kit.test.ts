import { expect, test } from "vitest";
import { setupServer } from "msw/node";
import { legacyHandlers } from "catalog-gateway/fixtures";
test("x", async () => {
  const s = setupServer(...legacyHandlers());
  s.listen({ onUnhandledRequest: "error" });
  const r = await fetch("https://legacy.example/api/v1/json/data/61");
  expect(await r.json()).toEqual({});
});
