import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { ClientView } from "../../../../src/features/retirement/console/retirementConsole.ts";
import { expect, test } from "vitest";
import { gateSchema } from "../../../../src/features/migration/stage.ts";
import { staged } from "../../migration/support.ts";
import { describeInChromium } from "../../../support/browser.ts";
import { operatorsListener } from "./operators.ts";
import { until } from "../../../support/waiting.ts";

/** Refreshes the page at once, as it does itself every two seconds. */
const look = (page: Page) => page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");

const row = (endpoint: string) => `table.stages tr[data-endpoint="${endpoint}"]`;

const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.innerText.replaceAll(/\\s+/g, " ")`);

describeInChromium("the operators' page", (open) => {
  test("a stage is moved by click, after what is wrong with it was said", async () => {
    const { url, state, data } = await operatorsListener();
    const page = await open(url, { may: /422/ });
    await page.click(`${row("getSetup")} [data-move]`);
    expect(await page.isDisabled("#move [type=submit]")).toBe(true);
    await page.check("#move [value=canary]");
    await page.fill("#move [name=share]", "20");
    expect(await page.inputValue("#move [name=range]")).toBe("20");
    expect(await textOf(page, "#move .will")).toBe(
      "20 % of the callers of getSetup will be answered by modern, the others by legacy. Was: legacy.",
    );
    await page.fill("#move [name=why]", "looks good");
    await page.fill("#move [name=by]", "Ada");
    state.refuse = "No modern answers this.";
    await page.click("#move [type=submit]");
    await page.getByText("No modern answers this.").waitFor();
    state.refuse = undefined;
    await page.click("#move [type=submit]");
    await page.waitForSelector(`${row("getSetup")} .stage.canary`);
    expect(data.stages["getSetup"]).toMatchObject({ stage: "canary", share: 20, by: "Ada", why: "looks good" });
    expect(await textOf(page, row("getSetup"))).toMatch(
      /^getSetup for a moment, by Ada: looks good canary, 20 % of callers/,
    );
    expect(await textOf(page, "#audit tbody tr:first-child")).toMatch(
      /getSetup legacy → to canary, 20 % of callers Ada looks good/,
    );
    expect(await textOf(page, "#told")).toBe("getSetup is in canary, 20 % of callers.");
    expect(await focused(page)).toMatch(/^Move/);
    await page.reload();
    await page.locator(".idle summary").click();
    await page.click(`${row("findFlow")} [data-move]`);
    expect(await page.inputValue("#move [name=by]")).toBe("Ada");
  });

  test("no word is broken in a table", async () => {
    const { url, data } = await operatorsListener();
    const [move] = data.audit;
    const [entry] = data.expected;
    const why = "parity at least 95.37 % over 64 distinct requests ".repeat(4);
    data.audit = [{ ...move, endpoint: "listEvaluationsWithSetups", by: "gate", why } as typeof move & object];
    data.expected = [
      { ...entry, owner: "catalogue team", reason: why, link: `https://a.example/${"a".repeat(80)}` } as typeof entry &
        object,
    ];
    const page = await open(url);
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

  test("a difference is found, made expected, and gone", async () => {
    const { url, data } = await operatorsListener();
    const [first] = data.differences;
    const found = { ...first, path: "/licence", cause: "value at /licence", count: 3, answers: 3 } as typeof first;
    const page = await open(url);
    const place = page.locator(`.difference[data-path="/licence"]`);
    expect(await place.count()).toBe(0);
    data.differences = [...data.differences, ...(found === undefined ? [] : [found])];
    await look(page);
    await place.locator("summary").first().click();
    expect(await place.locator("del, ins").allInnerTexts()).toEqual(["sparse", "Sparse"]);
    await place.locator(".curl summary").click();
    expect(await place.locator("pre").innerText()).toContain("https://modern.example/datasets/61");
    await place.locator("[data-expect]").click();
    expect(await page.inputValue("#expect [name=path]")).toBe("/licence");
    await page.fill("#expect [name=reason]", "Renamed on purpose.");
    await page.fill("#expect [name=owner]", "Grace");
    await page.fill("#expect [name=until]", "2027-06-30");
    expect(await textOf(page, "#expect .will")).toBe(
      "A difference of value at /licence of getDataset will be allowed until 2027-06-30.",
    );
    await page.click("#expect [type=submit]");
    await place.waitFor({ state: "hidden" });
    expect(data.expected.at(-1)).toMatchObject({
      endpoint: "getDataset",
      path: "/licence",
      kind: "value",
      reason: "Renamed on purpose.",
      owner: "Grace",
      until: "2027-06-30",
    });
    expect(await textOf(page, "#ledger tbody tr:last-child")).toContain("Renamed on purpose.");
    expect(await focused(page)).toMatch(/^Differences/);
    await page.check("#filters [value=expected]");
    expect(await place.isVisible()).toBe(true);
  });

  test("over a real gateway a difference is found, made expected, and gone; then a move", async () => {
    const { ask, compared, listen, migration } = await staged(
      { getDataset: { stage: "shadow" } },
      { faults: [{ endpoint: "getDataset", fault: "wrongType", path: "/version" }] },
    );
    await ask("/datasets/61");
    await compared("getDataset", 1);
    const page = await open(await listen());
    const place = page.locator(`.difference[data-path="/version"]`);
    await place.locator("summary").first().click();
    expect((await place.innerText()).replaceAll(/\s+/g, " ")).toContain("GET /datasets/61");
    await place.locator("[data-expect]").click();
    await page.fill("#expect [name=reason]", "A known bug of the new implementation.");
    await page.fill("#expect [name=owner]", "Ada");
    await page.click("#expect [type=submit]");
    // A function in the page would need eval, which its policy forbids.
    await until(async () => (await page.locator('.difference[data-path="/version"]:not([hidden])').count()) === 0);
    expect(migration.expected()).toEqual([
      expect.objectContaining({ endpoint: "getDataset", path: "/version", kind: "type", owner: "Ada" }),
    ]);
    await page.click(`${row("getDataset")} [data-move]`);
    await page.check("#move [value=canary]");
    await page.fill("#move [name=share]", "5");
    await page.fill("#move [name=why]", "It agrees now.");
    await page.fill("#move [name=by]", "Ada");
    await page.click("#move [type=submit]");
    await page.waitForSelector(`${row("getDataset")} .stage.canary`);
    expect(migration.stageOf("getDataset")).toMatchObject({ stage: "canary", share: 5, by: "Ada" });
    expect(await textOf(page, "#audit tbody tr:first-child")).toMatch(
      /getDataset shadow.* → to canary, 5 % of callers/,
    );
  });

  test("a gate is paused, the past is read by key, and all goes to legacy and comes back", async () => {
    const { ask, compared, listen, migration } = await staged(
      { getDataset: { stage: "canary", share: 50, gate: { ...gateSchema.parse({}), parity: 0.97 } } },
      { faults: [{ endpoint: "getDataset", fault: "wrongType", path: "/version" }] },
    );
    await ask("/datasets/61");
    await compared("getDataset", 1);
    const page = await open(await listen());
    await page.click(`${row("getDataset")} [data-gate]`);
    expect(await page.inputValue("#gate [name=parity]")).toBe("97");
    await page.check("#gate [value=paused]");
    await page.fill("#gate [name=errorRate]", "0.5");
    await page.fill("#gate [name=why]", "a deployment");
    await page.fill("#gate [name=by]", "Ada");
    await page.click("#gate [type=submit]");
    await page.getByText("The gate of getDataset is paused.").waitFor();
    expect(migration.stageOf("getDataset").gate).toMatchObject({ paused: true, parity: 0.97, errorRate: 0.005 });
    await page.click(`${row("getDataset")} .name`);
    await page.waitForSelector(`#history [aria-current]:text-is("getDataset")`);
    expect(page.url()).toContain("?endpoint=getDataset&range=30m#history");
    await page.focus("#history-at");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    const cursor = page.locator("#history .cursor").first();
    expect(await cursor.getAttribute("x1")).toBe("15");
    expect(await page.getAttribute("#history-at", "aria-valuetext")).toMatch(/^\d\d:\d\d · requests 0$/);
    await page.hover("#history svg.plot >> nth=0", { position: { x: 0, y: 20 } });
    expect(await cursor.getAttribute("x1")).toBe("5");
    await page.click("[data-all=legacy]");
    await page.fill("#all [name=why]", "an outage");
    await page.click("#all [type=submit]");
    await page.getByText("Every endpoint is in legacy.").waitFor();
    expect(migration.stageOf("getDataset").stage).toBe("legacy");
    await page.click("[data-all=former]");
    expect(await textOf(page, "#all [data-part=moves]")).toBe("getDataset: canary, 50 % of callers");
    expect(await textOf(page, "#all .objections")).toBe(
      "getDataset: 1 of 1 compared request unexplained (parity 0 %, at least 0 %)",
    );
    await page.fill("#all [name=why]", "the outage is over");
    await page.click("#all [type=submit]");
    expect(await focused(page)).toBe("");
    await page.fill("#all [name=despite]", "known");
    await page.click("#all [type=submit]");
    await page.getByText("The former stages are back.").waitFor();
    expect(migration.stageOf("getDataset")).toMatchObject({ stage: "canary", share: 50 });
    expect(await textOf(page, "#audit tbody tr:first-child")).toContain("against the evidence: known");
    await page.waitForSelector(`#audit tbody tr:nth-child(3):has-text("gate paused")`);
  });

  test("an update keeps focus, folds, fields, filters, a selection and the place", async () => {
    const { url, data, asked } = await operatorsListener();
    const page = await open(url);
    await page.locator(".difference summary").first().click();
    await page.locator(".difference .curl summary").first().click();
    const opened = await page.locator(".difference:has(details[open])").getAttribute("data-key");
    await page.fill("#filter-path", "format");
    await page.click(`${row("getDataset")} [data-move]`);
    await page.fill("#move [name=why]", "half a sen");
    const before = await page.evaluate(`scrollY`);
    const { getDataset } = data.stages;
    Object.assign(getDataset ?? {}, { rate: 99.5, stage: "shadow", share: 40 });
    data.differences = data.differences.toReversed();
    data.clients = [];
    const times = asked.length;
    await page.getByText("99.5").waitFor();
    expect(asked.length).toBeGreaterThan(times);
    expect(await page.locator("#clients").count()).toBe(0);
    expect(await page.evaluate(`[document.activeElement.name, document.activeElement.value, scrollY]`)).toEqual([
      "why",
      "half a sen",
      before,
    ]);
    expect(await textOf(page, "#move h2 + p")).toBe("Now: shadow, 40 % mirrored");
    await page.keyboard.press("Escape");
    expect(await page.locator(".difference details[open] .curl[open] .copy").count()).toBe(1);
    expect(await page.locator(".difference:has(details[open])").getAttribute("data-key")).toBe(opened);
    expect(await page.inputValue("#filter-path")).toBe("format");
    expect(await page.locator(".difference:visible").count()).toBe(2);
    expect(await focused(page)).toMatch(/^Move/);
    await page.evaluate(
      `getSelection().selectAllChildren(document.querySelector("details[open] > .samples .asked code"))`,
    );
    data.audit = [];
    await look(page);
    await page.getByText("Nothing has been moved yet.").waitFor();
    expect(await page.evaluate(`String(getSelection())`)).toBe("GET /datasets/61");
  });

  test("the scan for private datasets is seen going on and ending", async () => {
    const { url, data } = await operatorsListener();
    const page = await open(url);
    const bar = page.locator("#private-rows .fill-bar");
    const drawn = async () => Number(await bar.locator("rect").getAttribute("width"));
    expect(await bar.getAttribute("aria-label")).toBe("38.1 % of the ids have been read");
    const before = await drawn();
    const { privateRows } = data.cache;
    Object.assign(privateRows ?? {}, { at: 23_050, rows: 300 });
    await look(page);
    await page.getByText("the scan is at id 23,050 of 46,100").waitFor();
    expect(await drawn()).toBeGreaterThan(before);
    expect(await textOf(page, "#contents")).toContain("Private datasets 300");
    Object.assign(privateRows ?? {}, { state: "complete", completedAt: new Date().toISOString(), at: 0 });
    await look(page);
    await page.getByText("no scan runs now").waitFor();
    expect(await textOf(page, "#private-rows .values")).toContain("last scan a moment ago");
    expect(await bar.getAttribute("aria-label")).toBe("100 % of the ids have been read");
  });

  test("it says since when it is disconnected, and when it is live again", async () => {
    const { url, state } = await operatorsListener();
    const page = await open(url, { may: /500/ });
    state.down = true;
    await look(page);
    await page.getByText(/^Disconnected since \d\d:\d\d:\d\d UTC; trying again$/).waitFor();
    expect(await page.getAttribute("#connection", "role")).toBe("status");
    expect(await textOf(page, row("getDataset"))).toContain("canary, 5 % of callers");
    state.down = false;
    await look(page);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate(`document.documentElement.dataset.version = "an older one"`);
    await look(page);
    await page.getByText("This gateway has a newer page: reload to see it").waitFor();
  });

  test("everything can be done with the keyboard alone", async () => {
    const { url, data } = await operatorsListener();
    const page = await open(url);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab");
    expect(await focused(page)).toBe("Skip to the stages");
    await press("Enter", "Tab");
    expect(await focused(page)).toBe("Everything back to legacy");
    // The endpoint, the ledger, its differences, the next step, the move.
    await press("Tab", "Tab", "Tab", "Tab", "Tab");
    expect(await focused(page)).toBe("Move getDataset");
    await press("Enter", "ArrowDown");
    expect(await textOf(page, "#move .will")).toMatch(/^Every caller of getDataset will be answered by modern; 100 %/);
    await press("Tab", "ArrowLeft", "Tab", "Tab");
    await page.keyboard.type("by hand");
    await press("Tab");
    await page.keyboard.type("Ada");
    expect(await textOf(page, "#move .objections")).toMatch(/^getDataset: 41 of 1,200 compared requests unexplained/);
    await press("Tab");
    await page.keyboard.type("they are known");
    await press("Enter");
    await page.getByText("getDataset is in modern, 99 % checked.").waitFor();
    expect(data.stages["getDataset"]).toMatchObject({ stage: "modern", share: 99, why: "by hand" });
    await page.locator(".difference summary").first().focus();
    await press("Enter");
    expect(await page.locator(".difference details").first().getAttribute("open")).not.toBeNull();
    await press("Tab", "Tab", "Enter");
    expect(await page.isVisible("#expect")).toBe(true);
    await press("Escape");
    expect(await focused(page)).toMatch(/^Make it expected/);
  });

  test("the unexplained differences of one endpoint are one click away", async () => {
    const { url } = await operatorsListener();
    const page = await open(url);
    expect(await textOf(page, "#filtered")).toBe("3 of 6 differences");
    await page.click(`${row("listDatasets")} [data-see]`);
    expect(await textOf(page, "#filtered")).toBe("1 of 6 differences");
    expect(await page.locator(".difference:visible .endpoint").allInnerTexts()).toEqual(["listDatasets"]);
    await page.check("#filters [value=drift]");
    expect(await page.locator(".difference:visible .path").allInnerTexts()).toEqual(["/*/quality"]);
  });

  test.each(["light", "dark"] as const)(
    "on a phone, %s: nothing sticks out, and a finger hits every button",
    async (colorScheme) => {
      const { url } = await operatorsListener();
      const page = await open(url, { viewport: { width: 360, height: 780 }, colorScheme, reducedMotion: "reduce" });
      const width = () => page.evaluate(`document.documentElement.scrollWidth`);
      await page.check("#filters [value='']");
      for (const summary of await page.locator(".difference > details > summary").all()) await summary.click();
      for (const summary of await page.locator(".curl > summary:visible, .windows > summary").all())
        await summary.click();
      expect(await width()).toBe(360);
      await page.locator("[data-expect]:visible").first().click();
      expect(await page.evaluate(`document.querySelector("#expect").scrollWidth <= 336`)).toBe(true);
      await page.keyboard.press("Escape");
      await page.locator("[data-move]").first().click();
      expect(await width()).toBe(360);
      const small = await page.evaluate(
        `[...document.querySelectorAll("button, select, summary")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24).map((one) => one.outerHTML)`,
      );
      expect(small).toEqual([]);
    },
  );

  test("without a script everything can be read, and no control is shown", async () => {
    const { url } = await operatorsListener();
    const page = await open(url, { javaScriptEnabled: false });
    expect(await page.locator("button:visible, input:visible, dialog:visible").count()).toBe(0);
    expect(await page.locator(".difference:visible").count()).toBe(6);
    expect(await page.locator(".difference summary").first().isVisible()).toBe(true);
  });

  test("clients are searched, and all of them downloaded, with the token", async () => {
    const { url, data } = await operatorsListener({ token: "a token of operators" });
    const [client] = data.clients;
    data.clients = Array.from(
      { length: 12 },
      (_, i) => ({ ...client, path: `/old/${i}`, count: 100 - i }) as ClientView,
    );
    const page = await open(url, { may: /401|asked blob:/ });
    await page.fill("#token", "a token of operators");
    await page.keyboard.press("Enter");
    await page.getByText("Show 2 more").click();
    await until(async () => (await page.locator("#clients tbody tr").count()) === 12);
    await page.fill("#find-clients", "OLD/1");
    await until(async () => (await page.locator("#clients tbody tr").count()) === 3);
    expect(new URL(page.url()).searchParams.get("clients")).toBe("OLD/1");
    await page.fill("#find-clients", "nothing");
    await page.getByText("No client has this text.").waitFor();
    expect(await page.evaluate(`document.activeElement.id`)).toBe("find-clients");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("[data-download]")]);
    expect(file.suggestedFilename()).toBe("clients.csv");
    expect(readFileSync(await file.path(), "utf8").split("\r\n")).toHaveLength(14);
  });

  test("with a token a form comes first, and then the page, for this tab", async () => {
    const { url, asked } = await operatorsListener({ token: "a token of operators" });
    const page = await open(url, { may: /401/ });
    expect(await page.content()).not.toContain("getDataset");
    expect(asked).toEqual([]);
    expect(await page.locator("noscript:visible").count()).toBe(0);
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.getByText("This is not the token.").waitFor();
    await page.fill("#token", "a token of operators");
    await page.keyboard.press("Enter");
    await page.waitForSelector(row("getDataset"));
    await page.click(`${row("getSetup")} [data-move]`);
    await page.check("#move [value=shadow]");
    await page.fill("#move [name=why]", "first look");
    await page.fill("#move [name=by]", "Ada");
    await page.click("#move [type=submit]");
    await page.getByText("getSetup is in shadow, 100 % mirrored.").waitFor();
    await page.reload();
    await page.waitForSelector(row("getDataset"));
    expect(page.url()).toBe(url);
    await page.click("#sign-out");
    await page.waitForSelector("#token");
    expect(await page.content()).not.toContain("getDataset");
  });

  test("what a caller sends is shown as it was sent and never runs", async () => {
    const { url, data } = await operatorsListener();
    const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
    const [first] = data.differences;
    if (first)
      data.differences = [
        {
          ...first,
          path: hostile,
          cause: hostile,
          samples: [
            { ...first.samples[0], at: hostile, question: hostile, candidate: hostile, curl: { candidate: hostile } },
          ],
        },
      ];
    data.clients = [{ caller: hostile, agent: hostile, path: hostile, count: 1, first: hostile, last: hostile }];
    const page = await open(url);
    await look(page);
    await page.locator(".difference summary").first().click();
    expect(await page.locator(".samples .asked code").innerText()).toBe(hostile);
    await page.locator("[data-expect]:visible").click();
    expect(await page.inputValue("#expect [name=path]")).toBe(hostile);
    expect(await page.locator("img").count()).toBe(0);
  });
});
