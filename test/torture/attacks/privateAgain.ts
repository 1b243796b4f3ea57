import { type Attack, type Check, holds } from "../lib/attack.ts";
import { ask, jsonOf } from "../lib/client.ts";
import { openAccessLegacy, users } from "../lib/accessLegacy.ts";
import { holdsWithin, sleep } from "../../support/waiting.ts";

export const privateAgain: Attack = {
  name: "private-again",
  what: "A private row turns public behind the gateway and private again through it: an administrator's list has it, or says so.",
  async run(context) {
    const { url, rows } = await openAccessLegacy(context, 8);
    const { port, adminPort } = await context.startGateway({
      LEGACY_URL: url,
      LEGACY_ADMIN_KEY: users.admin,
      PRIVATE_WALK_RATE: "1000",
    });
    const isIndexed = async () =>
      (jsonOf(await ask(adminPort, "/cache")) as { privateRows?: { state?: string } }).privateRows?.state ===
      "complete";
    const complete = await holdsWithin(isIndexed, 20_000);
    const isHonest = async (): Promise<{ isSo: boolean; told: string }> => {
      const answer = await ask(port, "/v1/datasets/list", { headers: { "X-API-Key": users.admin } });
      const ids = (jsonOf(answer) as { did: number }[]).map(({ did }) => did);
      const decision = String(answer.headers["gateway-decision"]);
      const isSo = ids.length === 8 || decision.includes("private=incomplete");
      return { isSo, told: `rows ${ids.join()}${decision.includes("incomplete") ? ", private=incomplete" : ""}` };
    };
    const checks: Check[] = [holds("the index", complete ? "complete" : "not complete", "complete", complete)];
    const look = async (when: string) => {
      const { isSo, told } = await isHonest();
      checks.push(holds(`the administrator's list ${when}`, told, "all 8 rows, or private=incomplete", isSo));
    };
    const row = rows.get(2);
    if (row) row.visibility = "public";
    await look("after the row turned public past the gateway");
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const body = `data_id=2&visibility=private&api_key=${users.bob}`;
    await ask(port, "/api/v1/json/data/edit", { method: "POST", headers: form, body });
    await look("at once after it turned private through the gateway");
    await sleep(2000);
    await look("2 s later");
    await sleep(10_000);
    await look("12 s later");
    return checks;
  },
};
