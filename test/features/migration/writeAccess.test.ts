import { expect, onTestFinished, test } from "vitest";
import { endpoints } from "../../../transforms/index.ts";
import { recordingUpstream, xmlError } from "../../gateway/http/support.ts";
import { keys } from "../../gateway/answer/support.ts";
import { gatewayFor } from "../../support/gateway.ts";

const PRIVATE = 61;
const PUBLIC = 62;
const owner = keys.owner;
const stranger = keys.user;

/** The writes that no backend checks access for, what they write about, and how both sides read it. */
const writes = [
  ["tagDataset", "datasets/tag", "getDataset", (id: number) => ({ data_id: id, tag: "a" })],
  ["untagDataset", "datasets/untag", "getDataset", (id: number) => ({ data_id: id, tag: "a" })],
  ["attachToStudy", "studies/attach", "getStudy", (id: number) => ({ study_id: id, entity_ids: [1] })],
  ["detachFromStudy", "studies/detach", "getStudy", (id: number) => ({ study_id: id, entity_ids: [1] })],
] as const;

const json = (status: number, body: object) => ({ status, body: JSON.stringify(body) });
const refused = { detail: { code: "112", message: "No access granted" } };

/** Legacy shows a private dataset to its owner, and lets every key write. */
const legacyAnswer = ({ method, target, body }: { method: string; target: string; body: string }) => {
  const given = `${target} ${body}`;
  if (![owner, stranger].some((key) => given.includes(key)))
    return given.includes("api_key") ? xmlError(103, "Authentication failed") : undefined;
  const id = Number(/[/=](6[12])\b/.exec(given)?.[1] ?? PUBLIC);
  const isStudy = target.includes("/study/");
  if (method === "GET" && target.includes("/evaluationmeasure")) return undefined;
  if (method === "GET" && id === PRIVATE && !given.includes(owner))
    return json(412, { error: { code: isStudy ? "602" : "112", message: "No access granted" } });
  if (method === "GET")
    return json(200, isStudy ? { study: { id, name: "x" } } : { data_set_description: { id, name: "x" } });
  const action = /\/(attach|detach|tag|untag)\b/.exec(target)?.[1] ?? "";
  return json(
    200,
    isStudy
      ? { [`study_${action}`]: { id, main_entity_type: "task", linked_entities: 1 } }
      : { [`data_${action}`]: { id, tag: "a" } },
  );
};

/** Modern does the same; so does the public reference. */
const modernAnswer = ({ method, target, body }: { method: string; target: string; body: string }) => {
  const [, kind = "", what = ""] = target.split(/[/?]/);
  const isStudy = kind === "studies";
  if (method === "GET") {
    if (Number(what) === PRIVATE && !target.includes(owner)) return json(403, refused);
    const { exampleAnswer } = endpoints[isStudy ? "getStudy" : "getDataset"];
    return json(200, { ...(exampleAnswer as object), id: Number(what) });
  }
  const { study_id: id, data_id } = JSON.parse(body) as { study_id: number; data_id: number };
  return json(
    200,
    isStudy
      ? { study_id: id, main_entity_type: "task", linked_entities: 1 }
      : { [`data_${what}`]: { id: data_id, tag: ["a"] } },
  );
};

type Stage = "legacy" | "shadow" | "canary" | "modern";
const stages: readonly Stage[] = ["legacy", "shadow", "canary", "modern"];
const settingOf = (stage: Stage) => ({ stage, share: stage === "canary" ? 100 : 0 });
const sideOf = (stage: Stage) => (stage === "canary" || stage === "modern" ? "modern" : "legacy");

const open = async (given: Record<string, Stage>) => {
  const legacy = await recordingUpstream(legacyAnswer);
  const modern = await recordingUpstream(modernAnswer);
  const STAGES = JSON.stringify(Object.fromEntries(Object.entries(given).map(([name, one]) => [name, settingOf(one)])));
  const { app, close } = await gatewayFor(legacy.url, { MODERN_URL: modern.url, STAGES }, { expected: [] });
  onTestFinished(close);
  const isWrite = ({ method, body }: { method: string; body: string }) =>
    // A write of datasets' tags without a name verifies a key.
    method === "POST" && !/^api_key=\w+$/.test(body);
  return {
    post: async (path: string, body: object, key: string) => {
      const headers = { "X-API-Key": key, "Content-Type": "application/json" };
      const response = await app.request(`/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const decision = response.headers.get("gateway-decision") ?? "";
      return { status: response.status, body: await response.json(), decision };
    },
    /** The reads and writes that each side was sent since the last call. */
    asked: () => {
      const about = (seen: typeof legacy.seen) => ({
        reads: seen.filter(({ method, target }) => method === "GET" && /\/6[12]\b/.test(target)).length,
        writes: seen.filter(isWrite).length,
      });
      const counts = { legacy: about(legacy.seen), modern: about(modern.seen) };
      legacy.seen.length = 0;
      modern.seen.length = 0;
      return counts;
    },
  };
};

const none = { reads: 0, writes: 0 };
const both = stages.flatMap((reading) => stages.map((writing) => [reading, writing] as const));

test.each(both)("reads in %s, writes in %s: a stranger writes to no private record", async (reading, writing) => {
  const { post, asked } = await open(
    Object.fromEntries(writes.flatMap(([name, , reader]) => [[name, writing] as const, [reader, reading] as const])),
  );
  for (const [name, path, , input] of writes) {
    expect({ name, ...(await post(path, input(PRIVATE), stranger)) }).toMatchObject({
      name,
      status: 403,
      body: refused,
      decision: `stage=${writing}; backend=gateway; reason=access`,
    });
    expect({ name, ...asked() }).toMatchObject({ name, legacy: { writes: 0 }, modern: { writes: 0 } });
    for (const [key, id] of [
      [owner, PRIVATE],
      [stranger, PUBLIC],
    ] as const) {
      expect({ name, id, ...(await post(path, input(id), key)) }).toMatchObject({ name, id, status: 200 });
      const sides = { legacy: { ...none }, modern: { ...none } };
      sides[sideOf(reading)].reads++;
      sides[sideOf(writing)].writes++;
      expect({ name, id, ...asked() }).toEqual({ name, id, ...sides });
    }
  }
});
