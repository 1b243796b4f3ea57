import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "../../../src/serve/server.ts";
import { buildClient } from "../../../src/tools/client/build.ts";
import { type SampleLegacy, startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { describeInChromium } from "../../features/console/page/browser.ts";
import { keys } from "../../serve/support.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "client-"));
const built = join(folder, "client");

/** The server of the page: another origin than the gateway's. */
const pages = createServer(({ url = "" }, response) => {
  const isModule = /^\/[\w/]+\.js$/.test(url);
  response.setHeader("Content-Type", isModule ? "text/javascript" : "text/html");
  response.end(
    isModule ? readFileSync(join(built, url)) : '<!doctype html><title>client</title><link rel="icon" href="data:,">',
  );
});

let legacy: SampleLegacy;
let gateway: TestGateway;
let server: Awaited<ReturnType<typeof startServer>>;

describeInChromium("the built client, in a page of another origin", (open) => {
  beforeAll(async () => {
    buildClient(endpoints, join(folder, "sources"), built);
    await new Promise<void>((resolve) => void pages.listen(0, "127.0.0.1", resolve));
    legacy = await startSampleLegacy();
    gateway = await gatewayFor(legacy.url);
    server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1"] });
  });
  afterAll(async () => {
    await server.stop(1000);
    await gateway.close();
    await legacy.close();
    pages.close();
    rmSync(folder, { recursive: true });
  });

  /** A page that may ask the gateway; Chromium reports answers of 4xx as errors itself. */
  const opened = (): Promise<Page> =>
    open(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`, {
      may: new RegExp(
        `^asked http://127\\.0\\.0\\.1:${server.port}/v1/|^Failed to load resource: .* status of 4\\d\\d`,
      ),
    });

  /** What a body of this source returns in the page. It has `client`, made with `settings` besides the base URL, and `isCatalogError`. */
  const run = (page: Page, body: string, settings: object = {}): Promise<unknown> =>
    page.evaluate(`(async () => {
      const { isCatalogError, openClient } = await import("/index.js");
      const client = openClient({ baseUrl: "http://127.0.0.1:${server.port}/v1", ...${JSON.stringify(settings)} });
      ${body}
    })()`);

  test("reads, and a second read is answered 304", async () => {
    const page = await opened();
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.request().method() === "GET" && response.url().includes("/v1/")) statuses.push(response.status());
    });
    const names = await run(
      page,
      `const one = await client.getDataset({ dataset_id: 61 });
      const again = await client.getDataset({ dataset_id: 61 });
      return [one.name, again.name, one === again];`,
    );
    expect(names).toEqual(["iris", "iris", false]);
    expect(statuses).toEqual([200, 304]);
  });

  test("goes through a list page by page, and sends a key", async () => {
    const page = await opened();
    const each = `const rows = [];
      for await (const { did } of client.listDatasets.each({ limit: 2 })) rows.push(did);
      return [rows, (await client.listDatasets({ limit: 10000 })).map(({ did }) => did)];`;
    for (const settings of [{}, { key: keys.user }]) {
      const [rows, whole] = (await run(page, each, settings)) as number[][];
      expect(rows?.length).toBeGreaterThan(3);
      expect(rows).toEqual(whole);
    }
  });

  test("reads an error with its code and the id of its request", async () => {
    const page = await opened();
    const failure = await run(
      page,
      `return client.getDataset({ dataset_id: 999999 }).catch((error) => isCatalogError(error) && error.failure);`,
    );
    expect(failure).toEqual({
      kind: "not-found",
      status: 404,
      code: "111",
      message: "Unknown dataset",
      requestId: expect.any(String),
    });
    const wrong = `return client.getDataset({ dataset_id: 61 }).catch((error) => isCatalogError(error) && error.failure);`;
    expect(await run(page, wrong, { key: "wrong" })).toMatchObject({ kind: "unauthenticated", status: 401 });
  });

  test("is aborted with the reason of its signal, in flight too", async () => {
    const page = await opened();
    const reasons = await run(
      page,
      `const control = new AbortController();
      const call = client.listEvaluationMeasures({}, { signal: control.signal }).catch((reason) => reason);
      control.abort("enough");
      return [await call, await client.getDataset({ dataset_id: 61 }, { signal: AbortSignal.abort("before") }).catch((reason) => reason)];`,
    );
    expect(reasons).toEqual(["enough", "before"]);
  });
});
