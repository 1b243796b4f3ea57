import { expect, onTestFinished } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";

/** An administrator: may remove the tags of all users, and change the status of every dataset and study. */
export const key = "AD000000000000000000000000000000";

/** A gateway over the sample legacy that has cached these paths. `dropped` names those that are not cached any more. */
export const fillCache = async <Name extends string>(paths: Readonly<Record<Name, string>>) => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url);
  const entries = Object.entries(paths) as [Name, string][];
  for (const [, path] of entries) expect((await fetch(url + path)).status).toBe(200);
  const dropped = async (): Promise<Name[]> => {
    const gone: Name[] = [];
    for (const [name, path] of entries) {
      const answer = await fetch(url + path, { headers: { "Cache-Control": "only-if-cached" } });
      if (answer.status === 504) gone.push(name);
    }
    return gone;
  };
  return { url, dropped };
};

/** The administrator's request of the new interface. */
export const json = (fields: object) => ({
  headers: { "Content-Type": "application/json", "X-API-Key": key },
  body: JSON.stringify(fields),
});

/** The administrator's request of the legacy interface. */
export const form = (fields: Record<string, string>) => ({ body: new URLSearchParams({ ...fields, api_key: key }) });
