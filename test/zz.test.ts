import { test } from "vitest";
import { appendFileSync } from "node:fs";
import { openOldClients } from "./features/migration/movedReadScript.ts";
import { asking } from "./gateway/http/support.ts";
const norm = (b: string) => { try { return JSON.stringify(JSON.parse(b)); } catch { return b.replaceAll(/<\?xml[^>]*\?>|\s+(?=<|\/>)|(?<=>)\s+/g, ""); } };
test("x", async () => {
  const { ask, direct } = await openOldClients();
  const d = asking(direct);
  for (const path of "json/data/061 json/data/list/data_id/61,62 xml/data/list/data_id/61,62 json/task/list/type/1 json/flow/list json/run/list/uploader/1 json/setup/list/flow/103/limit/100 json/data/list/uploader/1 xml/run/list/uploader/1 xml/evaluation/list/function/predictive_accuracy/limit/5 xml/task/list/type/1".split(" ")) {
    const [a, b] = [norm((await ask("/api/v1/" + path)).body), norm((await d("/api/v1/" + path)).body)];
    let i = 0; while (a[i] === b[i] && i < a.length) i++;
    appendFileSync("/tmp/probe2.log", `${path} ${a === b}\n   ${a.slice(Math.max(0, i - 100), i + 120)}\n   ${b.slice(Math.max(0, i - 100), i + 120)}\n`);
  }
});
