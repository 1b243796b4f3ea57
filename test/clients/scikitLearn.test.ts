import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { clock } from "../gateway/cache/support.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { nginxProxies, nginxWithFiles } from "../deploy/proxyPrograms.ts";
import { describeWith } from "../support/needs.ts";
import { caching } from "./caching.ts";
import { moveAll, startMovedTo } from "./moving.ts";
import { startRecordedLegacy } from "./recordedLegacy.ts";

type Legacy = Awaited<ReturnType<typeof startRecordedLegacy>>;
type Outcomes = Readonly<Record<string, string>>;

/**
 * The outcome of `fetch_openml` for each dataset on this server, and the paths that reach legacy meanwhile.
 */
const fetchAll = async (
  url: string,
  { asked }: Legacy,
  leftOut: readonly string[] = [],
): Promise<{ outcomes: Outcomes; reads: string[] }> => {
  asked.length = 0;
  const program = ["test/clients/fetchOpenml.py", url, ...leftOut];
  const { stdout } = await promisify(execFile)("/usr/bin/python3", program, { env: {} });
  return { outcomes: JSON.parse(stdout) as Outcomes, reads: [...asked] };
};

/** Legacy, its answers without a gateway, and a gateway with these settings. */
const openAll = async (settings: Record<string, string>) => {
  const legacy = await startRecordedLegacy();
  const direct = await fetchAll(legacy.url, legacy);
  const gateway = await listeningGateway(legacy.url, { TRUSTED_PROXIES: "127.0.0.1", ...settings });
  return { legacy, direct, gateway };
};

describeWith("nginx", "scikit-learn's fetch_openml, through nginx and the gateway", () =>
  describeWith("python3-sklearn", "while legacy is down", () => {
    test("without CACHE_LEGACY and files.conf, clients fail while legacy fails", async () => {
      const { legacy, direct, gateway } = await openAll({});
      const { allPaths } = await nginxProxies(`127.0.0.1:${gateway.port}`, new URL(legacy.url).host);
      expect(await fetchAll(allPaths, legacy)).toEqual(direct);
      legacy.state.isDown = true;
      const { outcomes } = await fetchAll(allPaths, legacy);
      expect(Object.keys(outcomes)).toEqual(Object.keys(direct.outcomes));
      for (const [request, outcome] of Object.entries(outcomes))
        expect([request, outcome]).toEqual([request, expect.stringMatching(/^HTTPError: HTTP Error 50[23]: /)]);
    });

    test("with both, frames and errors stay for a day, and each read reaches legacy once", async () => {
      const { legacy, direct, gateway } = await openAll(caching);
      const { url } = await nginxWithFiles(`127.0.0.1:${gateway.port}`);
      const { pass } = clock();
      const first = await fetchAll(url, legacy);
      expect(first.outcomes).toEqual(direct.outcomes);
      expect(first.reads).toEqual([...new Set(direct.reads)]);

      legacy.state.isDown = true;
      expect(await fetchAll(url, legacy)).toEqual({ outcomes: direct.outcomes, reads: [] });
      // For the gateway: nginx's copies stay fresh; `test/deploy/dataFiles.test.ts` covers stale copies.
      pass(24 * 3_600_000);
      expect((await fetchAll(url, legacy)).outcomes).toEqual(direct.outcomes);
    });

    test("with MOVE_LEGACY, modern answers in the stage modern while legacy is down", async () => {
      const { asked, settings } = await startMovedTo((await startRecordedLegacy()).url);
      const { legacy, gateway } = await openAll(settings);
      const { url } = await nginxWithFiles(`127.0.0.1:${gateway.port}`);
      // The recordings are of an earlier legacy: it had these, or had them not.
      const others = ["description_version", "minio_url"];
      const first = await fetchAll(url, legacy, others);
      const reads = first.reads.filter((path) => path.startsWith("/api/"));
      await moveAll(gateway, "the recordings are of an earlier legacy");

      legacy.state.isDown = true;
      expect(await fetchAll(url, legacy, others)).toEqual({ outcomes: first.outcomes, reads: [] });
      expect(Object.values(asked()).reduce((sum, count) => sum + count, 0)).toBe(reads.length);
    });
  }),
);
