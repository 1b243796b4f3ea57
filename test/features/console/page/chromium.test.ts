import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInChromium } from "../../../support/browser.ts";
import { until } from "../../../support/waiting.ts";
import { known } from "../../migration/support.ts";
import { agent, underWay } from "./operators.ts";

/** Refreshes the page at once, as it does itself every two seconds. */
const look = (page: Page) => page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");

const row = (endpoint: string) => `#stage-${endpoint}`;
const differenceAt = (page: Page, path: string) => page.locator(`.difference[data-path="${path}"]`);

const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.innerText.replaceAll(/\\s+/g, " ")`);

/** Fills the fields of the dialog. */
const fill = async (page: Page, fields: Record<string, string>) => {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#move [name=${name}]`, value);
};

const closers: (() => Promise<void>)[] = [];

describeInChromium("the operators' page", (open) => {
  /** One that nothing changes, with long texts. */
  let still: Awaited<ReturnType<typeof underWay>>;
  beforeAll(async () => {
    const long = "parity at least 95.37 % over 64 distinct requests ".repeat(4);
    still = await underWay({ reason: long, why: long, onEnd: (close) => void closers.push(close) });
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  test("a difference is found, with what would allow it; once it is allowed it is gone", async () => {
    const { url, migration, ask, compared } = await underWay();
    const page = await open(url);
    await ask("/datasets/2");
    await compared("getDataset", 2);
    await look(page);
    const version = differenceAt(page, "/version");
    await version.getByText("2 requests").first().waitFor();
    await version.locator("summary").first().click();
    expect(await version.locator("ins").first().innerText()).toBe('"');
    await version.locator(".curl summary").first().click();
    expect(await version.locator("pre").first().innerText()).toContain("/v1/datasets/");
    await version.getByText("entry for the ledger").first().click();
    expect(JSON.parse(await version.locator("pre").last().innerText())).toMatchObject({
      endpoint: "getDataset",
      path: "/version",
      kind: "type",
    });
    await migration.configure({ getDataset: { stage: "shadow", share: 100 } }, [known]);
    await look(page);
    // A function in the page would need eval, which its policy forbids.
    await until(async () => (await page.locator('.difference[data-path="/version"]:not([hidden])').count()) === 0);
  });

  test("a stage is moved by click, with what speaks against it, and a refusal is shown", async () => {
    const { url, migration } = await underWay();
    const page = await open(url, { may: /409|422/ });
    await page.click(`${row("getDataset")} [data-move]`);
    expect(await textOf(page, "#move h2 + p")).toBe("Now: shadow, 100 % mirrored");
    expect(await textOf(page, "#move [type=submit]")).toBe("Move to canary, 5 % of callers");
    await page.selectOption("#move select", "shadow");
    expect(await page.isDisabled("#move [type=submit]")).toBe(true);
    await page.selectOption("#move select", "canary");
    await fill(page, { share: "20", why: "looks good", by: "Ada" });
    expect(await textOf(page, "#move .will")).toMatch(
      /^Modern will answer 20 % of the callers, legacy the others\. Unless STAGES has a gate/,
    );
    expect(await textOf(page, "#move .evidence")).toMatch(
      /^Against it: 1 of 1 compared request differs without a reason/,
    );
    expect(await textOf(page, "#move")).not.toMatch(/[{}"]/);
    await fill(page, { despite: "it is known" });
    await page.route("**/stages/*", (route) => route.fulfill({ status: 422, body: '{"detail":"No modern."}' }));
    await page.click("#move [type=submit]");
    await page.getByText("No modern.").waitFor();
    await page.unroute("**/stages/*");
    await page.click("#move [type=submit]");
    await page.waitForSelector(`${row("getDataset")} .stage.canary`);
    expect(migration.stageOf("getDataset")).toMatchObject({ stage: "canary", share: 20, by: "Ada" });
    expect(await textOf(page, row("getDataset"))).toMatch(/canary, 20 % of callers for .*, by Ada: looks good/);
    expect(await textOf(page, "#audit tbody tr:first-child")).toMatch(
      /getDataset shadow.* → to canary, 20 % of callers Ada looks good.*it is known/,
    );
    expect(await textOf(page, "#message")).toBe("getDataset is in canary, 20 % of callers.");
    expect(await focused(page)).toMatch(/^Move/);
    await page.reload();
    await page.click(`${row("listDatasets")} [data-move]`);
    expect(await page.inputValue("#move [name=by]")).toBe("Ada");
  });

  test("a refusal that the page did not expect asks for the reason", async () => {
    const { url, ask, compared, migration } = await underWay();
    await migration.move("listEvaluationMeasures", { stage: "shadow", share: 100 }, "Ada", "a try");
    await ask("/evaluationmeasures/list");
    await compared("listEvaluationMeasures", 1);
    const page = await open(url, { may: /409/ });
    await page.getByText("2 endpoints in shadow, nothing unexplained").click();
    await page.click(`${row("listEvaluationMeasures")} [data-move]`);
    expect(await textOf(page, "#move .evidence")).toBe(
      "No difference is unexplained in 1 compared request: a parity of 20.6 % is proven.",
    );
    expect(await page.isVisible("#move [name=despite]")).toBe(false);
    const refused = { detail: "listEvaluationMeasures: 1 of 2 unexplained.", evidence: {} };
    await page.route("**/stages/*", (route) => route.fulfill({ status: 409, json: refused }));
    await fill(page, { why: "looks good", by: "Ada" });
    await page.click("#move [type=submit]");
    await page.getByText("1 of 2 unexplained.").waitFor();
    await fill(page, { despite: "it is known" });
    await page.unroute("**/stages/*");
    await page.click("#move [type=submit]");
    await page.waitForSelector(`${row("listEvaluationMeasures")} .stage.canary`, { state: "attached" });
  });

  test("all endpoints go to legacy and come back", async () => {
    const { url, migration } = await underWay();
    const page = await open(url);
    await page.click("[data-all=legacy]");
    await fill(page, { why: "an outage", by: "Ada" });
    await page.click("#move [type=submit]");
    await page.getByText("Every endpoint is in legacy.").waitFor();
    expect(migration.stageOf("getStudy").stage).toBe("legacy");
    await page.click("[data-all=former]");
    expect(await textOf(page, "#move .will")).toContain("getStudy: modern, 100 % checked");
    expect(await textOf(page, "#move .evidence")).toMatch(/^Against it: getStudy: nothing has been compared/);
    await fill(page, { why: "the outage is over", despite: "known" });
    await page.click("#move [type=submit]");
    await page.getByText("The former stages are back.").waitFor();
    expect(migration.stageOf("getStudy")).toMatchObject({ stage: "modern", share: 100 });
    await until(async () => (await textOf(page, "#audit")).includes("against the evidence: known"));
  });

  test("all reads move by one click, as one audit line, and one click undoes it", async () => {
    const { url, migration } = await underWay();
    const page = await open(url);
    await page.click("[data-all=reads]");
    expect(await page.isDisabled("#move-stage [value=legacy]")).toBe(true);
    await fill(page, { why: "all at once", by: "Ada" });
    expect(await textOf(page, "#move .will")).toMatch(/^Legacy will answer every caller;.*Those that are further stay/);
    await page.click("#move [type=submit]");
    await page.getByText(/^\d+ reads moved\.$/).waitFor();
    expect(migration.stageOf("getTask").stage).toBe("shadow");
    await until(async () => (await textOf(page, "#audit tbody tr:first-child")).includes("all at once"));
    expect(await textOf(page, "#audit tbody tr:first-child")).toMatch(/\d+ endpoints to shadow/);
    await page.click("text=Undo “All reads to shadow, 100 % mirrored”");
    await fill(page, { why: "too early" });
    await page.click("#move [type=submit]");
    await page.getByText("The former stages are back.").waitFor();
    expect(migration.stageOf("getTask").stage).toBe("legacy");
  });

  test("no word is broken in a table", async () => {
    const page = await open(still.url);
    for (const summary of await page.locator(".in-stage > summary, .ledger > summary").all()) await summary.click();
    const broken = await page.evaluate(`(() => {
      const broken = [];
      const texts = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
      for (let text; (text = texts.nextNode()); ) {
        if (!text.parentElement.closest("table") || text.parentElement.closest("code, .link")) continue;
        for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\d]+/gu)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
      }
      return broken;
    })()`);
    expect(broken).toEqual([]);
  });

  test("an update keeps focus, folds, fields, filters, a selection and the place", async () => {
    const { url, operate, ask, compared } = await underWay();
    const page = await open(url);
    const version = differenceAt(page, "/version");
    await version.locator("summary").first().click();
    await version.locator(".curl summary").first().click();
    await page.fill("#filter-text", "version");
    await page.click(`${row("getDataset")} [data-move]`);
    await page.fill("#move [name=why]", "half a sen");
    const before = await page.evaluate(`scrollY`);
    await ask("/datasets/2");
    await compared("getDataset", 2);
    await operate("POST", "/stages/getDataset", { stage: "shadow", share: 40, why: "less", by: "Grace" });
    await look(page);
    await page.locator("#audit").getByText("less").waitFor({ state: "attached" });
    expect(await page.evaluate(`[document.activeElement.name, document.activeElement.value, scrollY]`)).toEqual([
      "why",
      "half a sen",
      before,
    ]);
    expect(await textOf(page, "#move h2 + p")).toBe("Now: shadow, 40 % mirrored");
    await page.keyboard.press("Escape");
    expect(await version.locator("details[open] .curl[open]").count()).toBeGreaterThan(0);
    expect(await page.inputValue("#filter-text")).toBe("version");
    expect(await page.locator(".difference:visible").count()).toBe(1);
    expect(await focused(page)).toMatch(/^Move/);
    await page.evaluate(`getSelection().selectAllChildren(document.querySelector("details[open] > .samples code"))`);
    const selected = await page.evaluate(`String(getSelection())`);
    await operate("POST", "/stages/getSetup", { stage: "legacy", why: "enough", by: "Grace" });
    await look(page);
    await page.locator("#audit").getByText("enough").waitFor();
    expect([selected, await page.evaluate(`String(getSelection())`)]).toEqual([
      expect.stringMatching(/^GET \/datasets\/\d+$/),
      selected,
    ]);
  });

  test("it says since when it is disconnected, and when it is live again", async () => {
    const page = await open(still.url, { may: /500/ });
    await page.route("**/*", (route) => route.fulfill({ status: 500 }));
    await look(page);
    await page.getByText(/^Disconnected since \d\d:\d\d:\d\d UTC; trying again$/).waitFor();
    expect(await page.getAttribute("#connection", "role")).toBe("status");
    expect(await textOf(page, row("getDataset"))).toContain("shadow, 100 % mirrored");
    await page.unroute("**/*");
    await look(page);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate(`document.documentElement.dataset.version = "an older one"`);
    await look(page);
    await page.getByText("This gateway has a newer page: reload to see it").waitFor();
  });

  test("everything can be done with the keyboard alone", async () => {
    const { url, migration } = await underWay();
    const page = await open(url, { may: /409/ });
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Presses Tab until the focus is on this text. */
    const tabTo = async (text: RegExp) => {
      for (let i = 0; i < 12 && !text.test(await focused(page)); i++) await press("Tab");
      expect(await focused(page)).toMatch(text);
    };
    await press("Tab");
    expect(await focused(page)).toBe("Skip to the traffic");
    await press("Enter");
    await tabTo(/^Everything back to legacy$/);
    await tabTo(/^Move getDataset/);
    await press("Enter", "ArrowDown");
    expect(await textOf(page, "#move .will")).toMatch(/^Modern will answer every caller; 100 %/);
    await press("Tab", "ArrowDown", "Tab");
    await page.keyboard.type("by hand");
    await press("Tab");
    await page.keyboard.type("Ada");
    await press("Tab");
    await page.keyboard.type("they are known");
    await press("Enter");
    await page.getByText("getDataset is in modern, 99 % checked.").waitFor();
    expect(migration.stageOf("getDataset")).toMatchObject({ stage: "modern", share: 99, why: "by hand" });
    const version = differenceAt(page, "/version");
    await version.locator("summary").first().focus();
    await press("Enter");
    expect(await version.locator("details").first().getAttribute("open")).not.toBeNull();
    await press("Tab", "Tab", "Enter");
    expect(await focused(page)).toMatch(/^entry for the ledger/);
  });

  test("the unexplained differences of one endpoint are one click away", async () => {
    const page = await open(still.url);
    expect(await textOf(page, "#filters output")).toBe("2 of 5 shown");
    await page.click(`${row("listDatasets")} a.unexplained`);
    await page.getByText("1 of 5 shown").waitFor();
    expect(await page.locator(".difference:visible .endpoint").allInnerTexts()).toEqual(["listDatasets"]);
    await page.selectOption("#filter-endpoint", "getStudy");
    await page.selectOption("#filter-kind", "drift");
    expect(await page.locator(".difference:visible .path").allInnerTexts()).toEqual(["/name"]);
  });

  test.each(["light", "dark"] as const)(
    "on a phone, %s: nothing sticks out, and a finger hits every button",
    async (colorScheme) => {
      const page = await open(still.url, {
        viewport: { width: 360, height: 780 },
        colorScheme,
        reducedMotion: "reduce",
      });
      const width = () => page.evaluate(`document.documentElement.scrollWidth`);
      await page.selectOption("#filter-kind", "");
      for (const summary of await page.locator(".difference > details > summary").all()) await summary.click();
      const folds = ".curl > summary:visible, .lifetimes > summary, .in-stage > summary, .ledger > summary";
      for (const summary of await page.locator(folds).all()) await summary.click();
      expect(await width()).toBe(360);
      await page.locator("[data-move]").first().click();
      expect(await width()).toBe(360);
      const small = await page.evaluate(
        `[...document.querySelectorAll("button, select, summary, .contents a, .press a")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.9).map((one) => one.outerHTML)`,
      );
      expect(small).toEqual([]);
    },
  );

  test("the entries of an address are shown, without a key, and purged", async () => {
    const { url, ask } = await underWay();
    await ask("/setup/1");
    const page = await open(url);
    await page.fill("#find-stored", "https://gateway.example/v1/setup/1?api_key=0123456789abcdef0123456789abcdef");
    await page.getByText("getSetup, 200").waitFor();
    expect(await textOf(page, "#stored")).toMatch(/It is served as it is\. fetched a moment ago .* none failed about/);
    expect(new URL(page.url()).searchParams.get("stored")).toBe("https://gateway.example/v1/setup/1");
    await page.click("[data-purge]");
    await page.getByText("Nothing is stored for").waitFor();
    expect(await textOf(page, "#message")).toBe("It is taken out: the next request asks legacy.");
    await page.fill("#find-stored", "/v1/nothing");
    await page.getByText("is the address of no read").waitFor();
    expect(await page.evaluate(`document.activeElement.id`)).toBe("find-stored");
  });

  test.each([390, 768, 1280, 1920])("at %i px nothing sticks out, and every number fits its cell", async (width) => {
    const page = await open(still.url, { viewport: { width, height: 900 } });
    for (const summary of await page.locator("main details > summary:visible").all()) await summary.click();
    const outside = await page.evaluate(`(() => {
      const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
      const cells = document.querySelectorAll(".traffic td, .traffic th, .rows td, .rows th, .lights li, .facts span, dd");
      return wide.concat([...cells].filter((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth > 0).map((cell) => cell.outerHTML));
    })()`);
    expect(outside).toEqual([]);
    const rows = await page.evaluate(
      `[...document.querySelectorAll(".lights li")].map((light) => light.getBoundingClientRect().top)`,
    );
    expect(new Set(rows as number[]).size).toBe(1);
  });

  test("without a script everything can be read, and no control is shown", async () => {
    const page = await open(still.url, { javaScriptEnabled: false });
    expect(await page.locator("button:visible, input:visible, dialog:visible").count()).toBe(0);
    expect(await page.locator(".difference:visible").count()).toBe(5);
    expect(await page.locator(".difference summary").first().isVisible()).toBe(true);
  });

  test("with a token a form comes before the page; clients are searched and downloaded", async () => {
    const { url, callLegacy } = await underWay({ token: "a token of operators" });
    for (let i = 0; i < 12; i++) await callLegacy("data/61", `old-${i}/1.0`);
    const page = await open(url, { may: /401|asked blob:/ });
    expect(await page.content()).not.toContain("getDataset");
    expect(await page.locator("noscript:visible").count()).toBe(0);
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This is not the token.").waitFor();
    await page.fill("#token", "a token of operators");
    await page.keyboard.press("Enter");
    await page.waitForSelector(row("getDataset"));
    await page.getByText("Show 3 more").click();
    await until(async () => (await page.locator("#clients tbody tr").count()) === 13);
    await page.fill("#find-clients", "OLD-1");
    await until(async () => (await page.locator("#clients tbody tr").count()) === 3);
    expect(new URL(page.url()).searchParams.get("clients")).toBe("OLD-1");
    await page.fill("#find-clients", "nothing");
    await page.getByText("No client has this text.").waitFor();
    expect(await page.evaluate(`document.activeElement.id`)).toBe("find-clients");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("[data-download]")]);
    expect(file.suggestedFilename()).toBe("clients.csv");
    const lines = readFileSync(await file.path(), "utf8").split("\r\n");
    expect([lines.length, lines.some((line) => line.includes(agent))]).toEqual([15, true]);
    await page.reload();
    await page.waitForSelector(row("getDataset"));
    await page.click("#sign-out");
    await page.waitForSelector("#token");
    expect(await page.content()).not.toContain("getDataset");
  });
});
