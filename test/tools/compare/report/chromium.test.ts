import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { htmlReport } from "../../../../src/tools/compare/report/htmlReport.ts";
import { describeInChromium } from "../../../features/console/page/browser.ts";
import { httpUpstream } from "../../../proxy/support.ts";
import { sampleReport } from "./sampleReport.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

/** The report as a file, with something more in it. */
const fileWith = (more = ""): string => {
  const file = join(temporaryFolder(), "report.html");
  writeFileSync(
    file,
    htmlReport(sampleReport()).replace("</main>", () => `${more}</main>`),
  );
  return pathToFileURL(file).href;
};

describeInChromium("the report, opened as a file", (open) => {
  test("is styled, its scripts run, and nothing of it is refused", async () => {
    const page = await open(fileWith());
    expect(await page.evaluate("document.documentElement.className")).toContain("with-script");
    expect(await page.evaluate("getComputedStyle(document.querySelector('.bar')).display")).toBe("block");
    const widths = page.locator(".overview > .bar rect");
    expect(await widths.count()).toBeGreaterThan(3);
    const fold = page.locator("#exhibits details").first();
    await fold.locator("summary").first().click();
    // The event of a fold comes after its click.
    await fold.locator("table.sides").waitFor();
    expect(await fold.locator("table.sides").count()).toBe(1);
    const differences = page.locator("#differences li > details");
    expect(await page.locator("#differences li > details[open]").count()).toBe(0);
    await differences.first().locator("summary").first().click();
    await differences.first().locator(".curl summary").click();
    await differences.first().locator("button.copy").waitFor();
    expect(await differences.first().locator("button.copy").count()).toBe(1);
    await page.locator(`[data-view*="kind=unexplained"]`).first().click();
    await page.waitForFunction("location.hash.includes('kind=unexplained')");
  });

  test("runs no script and applies no style that is not its own, and asks nobody", async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = await httpUpstream((request, response) => {
      asked.push(request.url);
      response.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end();
    });
    const foreign = `<script>document.title = "run"</script><img src="${elsewhere}/i.png" onerror="document.title = 'run'">
      <p id="styled" style="color: rgb(1, 2, 3)">x</p><style>#styled { margin-top: 77px }</style>
      <form id="away" action="${elsewhere}/"></form>`;
    const page = await open(fileWith(foreign), { may: /Content Security Policy|^asked/ });
    expect(await page.title()).not.toBe("run");
    expect(await page.evaluate("getComputedStyle(document.getElementById('styled')).color")).not.toBe("rgb(1, 2, 3)");
    expect(await page.evaluate("getComputedStyle(document.getElementById('styled')).marginTop")).not.toBe("77px");
    expect(await page.evaluate(`fetch('${elsewhere}/').then(() => 'sent', () => 'refused')`)).toBe("refused");
    await page.evaluate("document.getElementById('away').submit()");
    expect(page.url()).toMatch(/^file:/);
    expect(asked).toEqual([]);
  });
});
