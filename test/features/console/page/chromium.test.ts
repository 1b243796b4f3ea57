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
const part = (name: string) => `#move [data-part=${name}]`;
const differenceAt = (page: Page, path: string) => page.locator(`.difference[data-path="${path}"]`);

const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);

/** Fills the fields of the dialog, and moves. */
const move = async (page: Page, fields: Record<string, string>) => {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#move [name=${name}]`, value);
  await page.click("#move [type=submit]");
};

/** The move is done: the dialog is closed, and the page says so. */
const isDone = async (page: Page) => {
  await page.waitForSelector("#move:not([open])", { state: "attached" });
  await page.waitForSelector("#message:not(:empty)");
};

/** Finds content that does not fit: texts wider than the page or their cell, and words in tables that are broken. */
const misfits = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
    const cells = document.querySelectorAll(".traffic td, .traffic th, .rows td, .rows th, .lights li, .facts span, dd");
    for (const cell of cells)
      if (cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth > 0) found.push(cell.outerHTML);
    const texts = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode()); ) {
      if (!text.parentElement.closest("table") || text.parentElement.closest("code, .link")) continue;
      for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\d]+/gu)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
      }
    }
    return found;
  })()`);

const closers: (() => Promise<void>)[] = [];

describeInChromium("the operators' page", (open) => {
  /** One that nothing changes, with long texts. */
  let still: Awaited<ReturnType<typeof underWay>>;
  beforeAll(async () => {
    const long = "parity at least 95.37 % over 64 distinct requests ".repeat(4);
    still = await underWay({ reason: long, why: long, onEnd: (close) => void closers.push(close) });
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  test("a difference is found by filters, with the entry that allows it; then it is gone", async () => {
    const { url, migration } = await underWay();
    const page = await open(url);
    const visible = () => page.locator(".difference:visible .path").allInnerTexts();
    expect(await visible()).toEqual(["/version", "/*/quality/*"]);
    await page.click(`${row("listDatasets")} a.unexplained`);
    await until(async () => (await visible()).join(" ") === "/*/quality/*");
    expect(await textOf(page, "#filters output")).toMatch(/^1 .* 5 /);
    await page.selectOption("#filter-endpoint", "getStudy");
    await page.selectOption("#filter-kind", "drift");
    expect(await visible()).toEqual(["/name"]);
    await page.click("#filters [type=reset]");
    const version = differenceAt(page, "/version");
    await version.locator("summary").first().click();
    expect(await version.locator("ins").first().innerText()).toBe('"');
    await version.locator(".curl summary").first().click();
    expect(await version.locator("pre").first().innerText()).toContain("/v1/datasets/");
    await version.locator(".curl summary").last().click();
    const entry = { endpoint: "getDataset", path: "/version", kind: "type" };
    expect(JSON.parse(await version.locator("pre").last().innerText())).toMatchObject(entry);
    await page.selectOption("#filter-kind", "unexplained");
    await migration.configure({ getDataset: { stage: "shadow", share: 100 } }, [known]);
    await look(page);
    // A function in the page would need eval, which its policy forbids.
    await until(async () => !(await visible()).includes("/version"));
  });

  test("a stage is moved by click, with what speaks against it, and a refusal is shown", async () => {
    const { url, migration, ask, compared } = await underWay();
    await migration.stages.move("listEvaluationMeasures", { stage: "shadow", share: 100 }, "Ada", "a try");
    await ask("/evaluationmeasures/list");
    await compared("listEvaluationMeasures", 1);
    const page = await open(url, { may: /409|422/ });
    await page.click(`${row("getDataset")} [data-move]`);
    expect(await textOf(page, part("now"))).toContain("shadow, 100 %");
    expect(await textOf(page, part("confirm"))).toContain("canary, 5 %");
    await page.selectOption("#move select", "shadow");
    expect(await page.isDisabled(part("confirm"))).toBe(true);
    await page.selectOption("#move select", "canary");
    await page.fill("#move [name=share]", "20");
    expect(await textOf(page, part("will"))).toContain(" 20 % ");
    expect(await page.isVisible(`${part("evidence")}.trouble`)).toBe(true);
    expect(await textOf(page, "#move")).not.toMatch(/[{}"]/);
    await page.route("**/stages/*", (route) => route.fulfill({ status: 422, body: '{"detail":"No modern."}' }));
    await move(page, { why: "looks good", by: "Ada", despite: "it is known" });
    await page.locator(part("error")).getByText("No modern.").waitFor();
    await page.unroute("**/stages/*");
    await page.click("#move [type=submit]");
    await page.waitForSelector(`${row("getDataset")} .stage.canary`);
    expect(migration.stages.of("getDataset")).toMatchObject({ stage: "canary", share: 20, by: "Ada" });
    const moved = await textOf(page, "#audit tbody tr:first-child");
    for (const text of ["getDataset shadow", "canary, 20 %", "Ada looks good", "it is known"])
      expect(moved).toContain(text);
    expect(await textOf(page, "#message")).toContain("canary, 20 %");
    expect(await isFocused(page, "[data-move=getDataset]")).toBe(true);

    // The evidence turns against a move that the page thinks is free, so the dialog then asks for the reason.
    await page.reload();
    await page.click("[data-key=in-shadow] > summary");
    await page.click(`${row("listEvaluationMeasures")} [data-move]`);
    expect(await page.inputValue("#move [name=by]")).toBe("Ada");
    expect(await page.isVisible(`${part("evidence")}.trouble`)).toBe(false);
    expect(await page.isVisible("#move [name=despite]")).toBe(false);
    const refused = { detail: "1 of 2 unexplained.", evidence: {} };
    await page.route("**/stages/*", (route) => route.fulfill({ status: 409, json: refused }));
    await move(page, { why: "looks good" });
    await page.locator(part("error")).getByText(refused.detail).waitFor();
    await page.unroute("**/stages/*");
    await move(page, { despite: "it is known" });
    await page.waitForSelector(`${row("listEvaluationMeasures")} .stage.canary`, { state: "attached" });
  });

  test("all endpoints go to legacy, all reads move on, and each of these is undone", async () => {
    const { url, migration } = await underWay();
    const page = await open(url);
    await page.click("[data-all=legacy]");
    await move(page, { why: "an outage", by: "Ada" });
    await isDone(page);
    expect(migration.stages.of("getStudy").stage).toBe("legacy");
    await page.click("[data-all=former]");
    expect(await textOf(page, part("will"))).toContain("getStudy: modern, 100 %");
    expect(await textOf(page, `${part("evidence")}.trouble`)).toContain("getStudy: ");
    await move(page, { why: "the outage is over", despite: "known" });
    await isDone(page);
    expect(migration.stages.of("getStudy")).toMatchObject({ stage: "modern", share: 100 });
    await until(async () => (await textOf(page, "#audit tbody tr:first-child")).includes("known"));

    await page.click("[data-all=reads]");
    expect(await page.isDisabled("#move-stage [value=legacy]")).toBe(true);
    expect((await page.locator(part("will")).innerText()).split("\n")).toHaveLength(2);
    await move(page, { why: "all at once" });
    await isDone(page);
    expect(migration.stages.of("getTask").stage).toBe("shadow");
    await until(async () => (await textOf(page, "#audit tbody tr:first-child")).includes("all at once"));
    await page.click("[data-all=former]");
    await move(page, { why: "too early" });
    await isDone(page);
    expect(migration.stages.of("getTask").stage).toBe("legacy");
  });

  test("an update of the page keeps focus, folds, fields, filters, selection and place", async () => {
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
    expect(await textOf(page, part("now"))).toContain("shadow, 40 %");
    await page.keyboard.press("Escape");
    expect(await version.locator("details[open] .curl[open]").count()).toBeGreaterThan(0);
    expect(await page.inputValue("#filter-text")).toBe("version");
    expect(await page.locator(".difference:visible").count()).toBe(1);
    expect(await isFocused(page, "[data-move=getDataset]")).toBe(true);
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

  test("the page says since when it is disconnected, and when it is live again", async () => {
    const page = await open(still.url, { may: /500/ });
    const state = (name: string) => page.waitForSelector(`#connection.${name}[role=status]`);
    await page.route("**/*", (route) => route.fulfill({ status: 500 }));
    await look(page);
    await state("lost");
    expect(await textOf(page, "#connection")).toMatch(/ \d\d:\d\d:\d\d UTC/);
    expect(await page.isVisible(row("getDataset"))).toBe(true);
    await page.unroute("**/*");
    await look(page);
    await state("live");
    await page.evaluate(`document.documentElement.dataset.version = "an older one"`);
    await look(page);
    await state("old");
  });

  test("an endpoint is moved and a difference opened with the keyboard alone", async () => {
    const { url, migration } = await underWay();
    const page = await open(url, { may: /409/ });
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Presses Tab until this has the focus. */
    const tabTo = async (selector: string) => {
      for (let i = 0; i < 12 && !(await isFocused(page, selector)); i++) await press("Tab");
      expect([selector, await isFocused(page, selector)]).toEqual([selector, true]);
    };
    await press("Tab");
    expect(await isFocused(page, ".skip")).toBe(true);
    await press("Enter");
    await tabTo("[data-all=legacy]");
    await tabTo("[data-move=getDataset]");
    await press("Enter", "ArrowDown");
    expect(await textOf(page, part("confirm"))).toContain("modern, 100 %");
    await press("Tab", "ArrowDown", "Tab");
    await page.keyboard.type("by hand");
    await press("Tab");
    await page.keyboard.type("Ada");
    await press("Tab");
    await page.keyboard.type("they are known");
    await press("Enter");
    await isDone(page);
    expect(migration.stages.of("getDataset")).toMatchObject({ stage: "modern", share: 99, why: "by hand" });
    const version = differenceAt(page, "/version");
    await version.locator("summary").first().focus();
    await press("Enter");
    expect(await version.locator("details").first().getAttribute("open")).not.toBeNull();
    await press("Tab", "Tab", "Enter");
    expect(await isFocused(page, "[data-key=fold] > .curl > summary")).toBe(true);
  });

  test("from a phone to a wide screen nothing sticks out, and a finger hits every button", async () => {
    const page = await open(still.url, { viewport: { width: 1920, height: 900 }, reducedMotion: "reduce" });
    await page.selectOption("#filter-kind", "");
    // The summaries in a fold are visible once it is open.
    for (let i = 0; i < 2; i++)
      for (const summary of await page.locator("main details:not([open]) > summary:visible").all())
        if (await summary.isVisible()) await summary.click();
    for (const width of [1920, 1280, 768, 390, 360]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await misfits(page)]).toEqual([width, []]);
      const rows = `new Set([...document.querySelectorAll(".lights li")].map((light) => light.getBoundingClientRect().top)).size`;
      expect([width, await page.evaluate(rows)]).toEqual([width, 1]);
    }
    await page.locator("[data-move]").first().click();
    expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(360);
    const small = await page.evaluate(
      `[...document.querySelectorAll("button, select, summary, .contents a, .press a")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.9).map((one) => one.outerHTML)`,
    );
    expect(small).toEqual([]);
  });

  test("the entries of an address are shown, without a key, and purged", async () => {
    const { url, ask } = await underWay();
    await ask("/setup/1");
    const page = await open(url);
    await page.fill("#find-stored", "https://gateway.example/v1/setup/1?api_key=0123456789abcdef0123456789abcdef");
    await page.waitForSelector("#stored [data-freshness=fresh][data-failures='0']");
    expect(await textOf(page, "#stored")).toContain("getSetup, 200");
    expect(new URL(page.url()).searchParams.get("stored")).toBe("https://gateway.example/v1/setup/1");
    await page.click("[data-purge]");
    await page.locator("#stored .none").getByText("/v1/setup/1").waitFor();
    expect(await textOf(page, "#message")).not.toBe("");
    await page.fill("#find-stored", "/v1/nothing");
    await page.locator("#stored .none").getByText("/v1/nothing").waitFor();
    expect(await page.evaluate(`document.activeElement.id`)).toBe("find-stored");
  });

  test("without a script everything can be read, and no control is shown", async () => {
    const page = await open(still.url, { javaScriptEnabled: false });
    expect(await page.locator("button:visible, input:visible, dialog:visible").count()).toBe(0);
    expect(await page.locator(".difference:visible").count()).toBe(5);
    expect(await page.locator(".difference summary").first().isVisible()).toBe(true);
  });

  test("with a token the page follows a form, and clients are searched and downloaded", async () => {
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
