import { expect, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { describeInChromium } from "../../support/browser.ts";
import { endpoints } from "../../../transforms/index.ts";

describeInChromium("the reference", (open) => {
  test("finds an operation by its words and tries it, on a phone in the dark", async () => {
    const legacy = await startSampleLegacy();
    const { url } = await listeningGateway(legacy.url, { DOCUMENTS: "true" });
    // A request to any other place fails the test, as does what the policy refuses.
    const page = await open(`${url}/v1/docs`, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
    const all = Object.keys(endpoints).length;
    const shown = () => page.locator(".opblock").count();
    await expect.poll(shown).toBe(all);
    await page.fill("input.operation-filter-input", "setup parameters");
    await expect.poll(shown).toBeLessThan(all);
    const operation = page.locator("#operations-setup-getSetup");
    await operation.locator(".opblock-summary-control").click();
    await operation.locator(".execute").click();
    const answer = operation.locator(".live-responses-table tbody .response-col_status").first();
    await expect.poll(() => answer.textContent()).toMatch(/^200/);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    expect(await page.evaluate("document.documentElement.className")).toBe("dark-mode");
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector(".opblock-summary-description")).fontFamily`),
    ).toBe("system-ui, sans-serif");
    await page.fill("input.operation-filter-input", "");
    await expect.poll(shown).toBe(all);
    const writes = Object.values(endpoints).filter((endpoint) => "writes" in endpoint).length;
    expect(await page.locator(".opblock .authorization__btn").count()).toBe(writes);
    await legacy.close();
  });
});
