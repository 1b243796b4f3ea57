import { beforeAll, expect, test } from "vitest";
import { type StageName, stageNames } from "../../../features/migration/stage.ts";
import { type Staged, staged } from "./support.ts";

/** The owner of the private records, and another caller. */
const owner = "DA1A0000000000000000000000000000";
const stranger = "00000000000000000000000000000000";

/**
 * The writes that no backend checks access for, the endpoints that read their records, and the inputs for a private and
 * a public record.
 */
const writes = [
  ["tagDataset", "datasets/tag", "getDataset", { data_id: 16, tag: "a" }, { data_id: 61, tag: "a" }],
  ["untagDataset", "datasets/untag", "getDataset", { data_id: 16, tag: "a" }, { data_id: 61, tag: "a" }],
  [
    "attachToStudy",
    "studies/attach",
    "getStudy",
    { study_id: 105, entity_ids: [1] },
    { study_id: 99, entity_ids: [2] },
  ],
  [
    "detachFromStudy",
    "studies/detach",
    "getStudy",
    { study_id: 105, entity_ids: [1] },
    { study_id: 99, entity_ids: [2] },
  ],
] as const;

const inStage = (stage: StageName) => ({ stage, share: stage === "canary" ? 100 : 0 });
const isModern = (stage: StageName) => stage === "canary" || stage === "modern";
const both = stageNames.flatMap((reading) => stageNames.map((writing) => [reading, writing] as const));

let opened: Staged;
beforeAll(async () => {
  opened = await staged({});
});

/** Sends a write, and counts the requests that modern gets for it: also those that find out about access. */
const askedFor = async (path: string, input: object, key: string) => {
  const before = opened.modern.asked();
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const init = { method: "POST", body: JSON.stringify(input) };
  const { status, decision } = await opened.ask(`/${path}`, headers, init);
  const now = Object.entries(opened.modern.asked()).map(
    ([name, count]) => [name, count - (before[name] ?? 0)] as const,
  );
  return { status, decision, asked: Object.fromEntries(now.filter(([, count]) => count > 0)) };
};

test.each(both)("reads in %s, writes in %s: a stranger writes to no private record", async (reading, writing) => {
  for (const [name, , reader] of writes) {
    await opened.migration.stages.move(name, inStage(writing), "me", "");
    await opened.migration.stages.move(reader, inStage(reading), "me", "");
  }
  const side = isModern(writing) ? "modern" : "legacy";
  for (const [name, path, reader, hidden, open] of writes) {
    const read = isModern(reading) ? { [reader]: 1 } : {};
    const written = isModern(writing) ? { [name]: 1 } : {};
    const refused = { status: 403, decision: `stage=${writing}; backend=gateway; reason=access`, asked: read };
    expect({ name, ...(await askedFor(path, hidden, stranger)) }).toEqual({ name, ...refused });
    for (const [input, key] of [
      [hidden, owner],
      [open, stranger],
    ] as const) {
      const done = {
        status: 200,
        decision: expect.stringContaining(`backend=${side}`),
        asked: { ...read, ...written },
      };
      expect({ name, input, ...(await askedFor(path, input, key)) }).toEqual({ name, input, ...done });
    }
  }
});
