import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { describeWith, programPath } from "./needs.ts";

/** Opens a page. At the end of the test it fails where the page requested another address or a script failed. */
type OpenPage = (url: string, options?: BrowserContextOptions & { may?: RegExp }) => Promise<Page>;

/** As `describe`, for tests in a real Chromium: one browser for all of them. */
export const describeInChromium = (name: string, tests: (open: OpenPage) => void): void =>
  describeWith("chromium", name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: programPath("chromium") ?? "",
        args: ["--no-sandbox", "--disable-gpu"],
      });
    });
    afterAll(() => browser.close());
    tests((url, options) => openIn(browser, url, options));
  });

const openIn = async (
  browser: Browser,
  url: string,
  { may, ...options }: BrowserContextOptions & { may?: RegExp } = {},
): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !may?.test(message.text())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => {
    wrong.push(`a script spoke: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // A file has no origin.
  const own = url.startsWith("file:") ? url : new URL(url).origin;
  page.on("request", (request) => {
    const message = `asked ${request.url()}`;
    if (!request.url().startsWith(own) && !request.url().startsWith("data:,") && !may?.test(message))
      wrong.push(message);
  });
  onTestFinished(async () => {
    await context.close();
    expect(wrong).toEqual([]);
  });
  await page.goto(url);
  return page;
};
