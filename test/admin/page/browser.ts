import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

/** A page at an address, of which it is made sure in the end that it asked nobody else and that no script failed. */
export type OpenPage = (url: string, options?: BrowserContextOptions & { may?: RegExp }) => Promise<Page>;

/** As `describe`, in a real Chromium, one for all tests; loudly skipped where there is none. */
export const describeInChromium = (name: string, tests: (open: OpenPage) => void): void => {
  if (executablePath === undefined) process.stderr.write(`\n!!! SKIPPED, no chromium is installed: ${name}\n\n`);
  // oxlint-disable-next-line vitest/valid-describe-callback, vitest/valid-title -- they are the caller's
  describe.skipIf(executablePath === undefined)(name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
    }, 30_000);
    afterAll(() => browser.close());
    tests((url, options) => openIn(browser, url, options));
  });
};

const openIn = async (
  browser: Browser,
  url: string,
  { may, ...options }: BrowserContextOptions & { may?: RegExp } = {},
): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(15_000);
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
  page.on("request", (request) => {
    const told = `asked ${request.url()}`;
    if (!request.url().startsWith(url) && !request.url().startsWith("data:,") && !may?.test(told)) wrong.push(told);
  });
  onTestFinished(async () => {
    await context.close();
    expect(wrong).toEqual([]);
  });
  await page.goto(url);
  return page;
};
