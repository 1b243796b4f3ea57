import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { describeInChromium } from "../../support/browser.ts";
import { once } from "../../../src/operation/limits/once.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { compare, openServers } from "./support.ts";

const { candidate, legacy } = openServers();

/** The page of a candidate with planted differences. */
const report = once(async () => {
  const url = await candidate((document, path) =>
    path.startsWith("/datasets/6")
      ? { ...document, name: "another", version: `${document["version"] as number}` }
      : document,
  );
  const { file } = await compare(["--legacy", legacy(), "--candidate", url, "--ids", "1..3,61,62"]);
  return file("report.html");
});

/** The page as a file, with something more in it. */
const fileWith = async (more = ""): Promise<string> => {
  const changed = join(temporaryFolder(), "changed.html");
  writeFileSync(
    changed,
    (await report()).replace("</main>", () => `${more}</main>`),
  );
  return pathToFileURL(changed).href;
};

describeInChromium("the report, opened as a file", (open) => {
  test("report.html unfolds, and is filtered by endpoint, kind, form, text and links", async () => {
    const page = await open(await fileWith());
    const example = page.locator("#examples li").first();
    await example.locator("summary").first().click();
    await example.locator("table.sides").waitFor({ state: "visible" });
    const difference = page.locator("#differences li").first();
    await difference.locator("summary").first().click();
    await difference.locator(".curl summary").click();
    await difference.locator(".curl pre").waitFor();
    const paths = async () =>
      page
        .locator("#differences li:visible")
        .evaluateAll((all) => all.map((item) => item.dataset["text"]?.split(" ")[0]));
    const all = await paths();
    expect(new Set(all)).toEqual(new Set(["/name", "/version"]));
    await page.locator("#filter-form").selectOption("type");
    expect(await paths()).toEqual(["/version"]);
    expect(await page.evaluate("location.hash")).toBe("#form=type");
    await page.locator("#filter-text").fill("/NAME");
    expect(await paths()).toEqual([]);
    expect(await page.locator("#differences").isVisible()).toBe(false);
    await page.locator("button[type=reset]").click();
    await expect.poll(() => page.evaluate("location.hash")).toBe("");
    await page.locator("#differences").waitFor({ state: "visible" });
    expect(await paths()).toEqual(all);
    await page.locator(`.counts tbody a[href*="kind=unexplained"]`).first().click();
    await expect.poll(() => page.locator("#filter-kind").inputValue()).toBe("unexplained");
    expect(await paths()).toEqual(all);
    await page.locator("#filter-endpoint").selectOption("getSetup");
    expect(await paths()).toEqual([]);
  });

  test("compare's report.html runs no foreign script or style, and sends no request", async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = await httpUpstream((request, response) => {
      asked.push(request.url);
      response.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end();
    });
    const foreign = `<script>document.title = "run"</script><img src="${elsewhere}/i.png" onerror="document.title = 'run'">
      <p id="styled" style="color: rgb(1, 2, 3)">x</p><style>#styled { margin-top: 77px }</style>
      <form id="away" action="${elsewhere}/"></form>`;
    const page = await open(await fileWith(foreign), { may: /Content Security Policy|^asked/ });
    expect(await page.title()).not.toBe("run");
    expect(await page.evaluate("getComputedStyle(document.getElementById('styled')).color")).not.toBe("rgb(1, 2, 3)");
    expect(await page.evaluate("getComputedStyle(document.getElementById('styled')).marginTop")).not.toBe("77px");
    expect(await page.evaluate(`fetch('${elsewhere}/').then(() => 'sent', () => 'refused')`)).toBe("refused");
    await page.evaluate("document.getElementById('away').submit()");
    expect(page.url()).toMatch(/^file:/);
    expect(asked).toEqual([]);
  });
});
