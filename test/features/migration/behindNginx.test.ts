import { get } from "node:http";
import { expect, test } from "vitest";
import { consoleApp } from "../../../src/features/console/consoleApp.ts";
import { freePort } from "../../support/freePort.ts";
import { describeWith } from "../../support/needs.ts";
import { startNginx } from "../../support/startCommand.ts";
import { staged } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const forward = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;";

/** A real nginx in front of a port. It gives its own port. */
const nginxBefore = async (upstream: number, headers: string): Promise<number> => {
  const port = await freePort();
  const server = `listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${upstream}; ${headers} }`;
  await startNginx(temporaryFolder(), `server { ${server} }`, [port]);
  return port;
};

/** The backend that answers a caller at this address. */
const askFrom = (localAddress: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", path: "/v1/datasets/1", localAddress, headers: { "User-Agent": "one" } };
    get(options, (response) => {
      response.resume().on("end", () => resolve(String(response.headers["gateway-decision"])));
    }).on("error", reject);
  });

/** 110 callers ask through nginx. */
const askedThrough = async (headers: string, environment: Record<string, string>) => {
  const { port, gateway, migration, observer } = await staged(
    { getDataset: { stage: "canary", share: 50 } },
    { environment },
  );
  const front = await nginxBefore(port, headers);
  const decisions: string[] = [];
  for (let i = 1; i <= 110; i++) decisions.push(await askFrom(`127.0.0.${i}`, front));
  const page = await consoleApp(gateway.core, { host: "127.0.0.1" }, `http://127.0.0.1:${port}/v1`).request(
    "http://127.0.0.1/",
    {
      headers: { host: "127.0.0.1" },
    },
  );
  const notices = Array.from((await page.text()).matchAll(/<p class="notice"[^>]*>([^]*?)<\/p>/g), ([, text]) =>
    String(text)
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  const sides = new Set(decisions.map((decision) => /backend=(\w+)/.exec(decision)?.[1]));
  return { sides, notices, counts: observer.counts(), oneBucket: migration.viewOf("getDataset").oneBucket };
};

describeWith("nginx", "a canary behind nginx", () => {
  test("that is not trusted is named with the setting to use", async () => {
    const { sides, notices, counts } = await askedThrough(forward, {});
    expect([sides.size, counts]).toEqual([
      1,
      expect.objectContaining({ untrusted_proxy: 1, "canary_one_bucket getDataset": 1 }),
    ]);
    expect(notices).toEqual([
      expect.stringMatching(
        /^127\.0\.0\.1 sent forwarded headers in \d+ requests, .*set TRUSTED_PROXIES=127\.0\.0\.1, or/,
      ),
      expect.stringMatching(
        /^All \d+ requests of the canary getDataset fall into one bucket, .*its share of 50 % moves/,
      ),
    ]);
  });

  test("that is trusted serves a share of the callers", async () => {
    const { sides, notices, counts } = await askedThrough(forward, { TRUSTED_PROXIES: "127.0.0.1" });
    expect([sides, notices]).toEqual([new Set(["legacy", "modern"]), []]);
    expect(Object.keys(counts).join(" ")).not.toMatch(/untrusted_proxy|canary_one_bucket/);
  });

  test("with its defaults, which name no caller, has all callers in one bucket", async () => {
    const { sides, counts, oneBucket } = await askedThrough("", { TRUSTED_PROXIES: "127.0.0.1" });
    expect([sides.size, counts["canary_one_bucket getDataset"], counts["untrusted_proxy"]]).toEqual([1, 1, undefined]);
    expect(oneBucket).toBeGreaterThanOrEqual(100);
  });
});
