import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { until } from "../../support/waiting.ts";
import { isProbeOfLegacy, listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { script } from "./script.ts";
import { coalesced } from "./support.ts";

describe("many equal requests at the same time", () => {
  script("legacy gets one request, whose answer is for all")`
    legacy holds
    first: ask 50 times /v1/datasets/61
    other: ask 50 times /v1/datasets/0061/
    99 wait
    legacy answers
    first -> 1 x 200 nobody 1 fwd=uri-miss stored ttl=600, 49 x 200 nobody 1 fwd=uri-miss collapsed ttl=600
    other -> 200 nobody 1 fwd=uri-miss collapsed ttl=600
    legacy got 1
  `;

  script("a caller that leaves does not end it for the others, nor for later callers")`
    legacy holds
    first: ask /v1/datasets/61
    legacy got 1
    second: ask /v1/datasets/61
    1 wait
    first leaves
    legacy answers
    second -> 200
    ask /v1/datasets/61 -> 200 hit
    legacy got 0
  `;

  script("a failure goes to all that waited; later requests share one new fetch")`
    legacy is empty-500
    legacy holds
    all: ask 300 times /v1/datasets/61
    299 wait
    legacy answers
    all -> 1 x 502 fwd=uri-miss, 299 x 502 fwd=uri-miss collapsed
    legacy got 1
    legacy is well
    legacy holds
    all: ask 20 times /v1/datasets/61
    19 wait
    legacy answers
    all -> 1 x 200 fwd=uri-miss stored, 19 x 200 fwd=uri-miss collapsed
    legacy got 1
  `;

  script("requests that waited for a refusal are sent at once, not one after the other")`
    legacy shows all to alice alone
    legacy holds
    all: ask 20 times /v1/datasets/61
    19 wait
    legacy got 1
    legacy answers 1
    legacy got 19
    # For five seconds no request waits for the fetch of another.
    pass 4999 ms
    next: ask 5 times /v1/datasets/61
    legacy got 5
    legacy answers
    all -> 403
    next -> 403
    pass 5001 ms
    legacy holds
    all: ask 5 times /v1/datasets/61
    4 wait
    legacy got 1
    legacy answers
  `;

  test.each([
    ["serves the others", true, 19],
    ["finds no room either, so that all are refused", false, 0],
  ])("requests that got no room are refused; one more request %s", async (_, hasNextRoom, served) => {
    const answers: ServerResponse[] = [];
    const url = await httpUpstream((incoming, response) => {
      // Its answers wait for longer than the gateway is patient on a busy machine.
      if (isProbeOfLegacy(incoming)) response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
      else answers.push(response);
    });
    const length = 1024 ** 2;
    const bounds = { MEMORY_BYTES: String(length), MAX_REPLY_BYTES: String(length) };
    const { url: gateway, core } = await listeningGateway(url, bounds);
    const begin = (i: number) => answers[i]?.writeHead(200, { "Content-Length": length }).write("{");
    const large = fetch(`${gateway}/v1/evaluationmeasures/list`);
    await until(() => answers.length === 1);
    begin(0);
    const all = Promise.all(Array.from({ length: 20 }, () => fetch(`${gateway}/v1/datasets/61`)));
    await until(async () => answers.length === 2 && (await coalesced(core)) === 19);
    begin(1);
    await until(() => answers.length === 3);
    const endLarge = async () => {
      answers[0]?.end('"evaluation_measures":{"measures":{"measure":"kappa"}}}'.padEnd(length - 1));
      expect((await large).status).toBe(200);
    };
    if (hasNextRoom) {
      await endLarge();
      answers[2]?.end('{"data_set_description":{"id":"61","name":"a","format":"arff"}}');
    } else begin(2);
    const statuses = (await all).map(({ status }) => status);
    if (!hasNextRoom) await endLarge();
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(200), count(503)]).toEqual([served, 20 - served]);
    expect(answers).toHaveLength(3);
  });
});

describe("a refresh in the background", () => {
  script("is made once, however many are served meanwhile")`
    ask /v1/datasets/61
    legacy got 1
    pass 1 h
    legacy changes
    legacy holds
    ask 30 times /v1/datasets/61 -> 200 nobody 1 hit ttl=-3000 stale-while-revalidate
    legacy got 1
    legacy answers
    legacy got 0
    ask /v1/datasets/61 -> 200 nobody 2 hit
  `;

  // At the last millisecond of each pause, no request is sent yet.
  const afterPause = (seconds: number) => `
      pass ${seconds * 1000 - 1} ms
      ask /v1/datasets/61 -> 200 hit stale-while-revalidate
      legacy got 0
      pass 1 ms
      ask /v1/datasets/61 -> 200 hit stale-while-revalidate
      legacy got 1`;
  script("backs off while legacy fails: 1 s, 2 s, 4 s ... 60 s")`
    ask /v1/datasets/61
    legacy got 1
    pass 1 h
    legacy is empty-500
    ask /v1/datasets/61 -> 200 hit stale-while-revalidate
    legacy got 1
    ${[1, 2, 4, 8, 16, 32, 60, 60].map(afterPause).join("\n")}
    legacy is well
    pass 60 s
    ask /v1/datasets/61 -> 200 hit stale-while-revalidate
    legacy got 1
    ask /v1/datasets/61 -> 200 hit ttl=600
  `;

  for (const [change, status] of [
    ["legacy shows all to alice alone", 403],
    ["legacy loses all", 404],
  ])
    script(`removes the entry if it is answered ${status}, also for a later outage`)`
      ask /v1/datasets/61
      legacy got 1
      pass 1 h
      ${change}
      ask /v1/datasets/61 -> 200
      legacy got 1
      ask /v1/datasets/61 -> ${status}
      legacy is down
      pass 2 min
      ask /v1/datasets/61 -> 502
    `;
});

describe("a fetch beside a stale answer", () => {
  script("many that waited for a failure count as one failure: the next fetch is a second later")`
    ask /v1/datasets/61
    pass 2 d
    legacy is empty-500
    legacy holds
    all: ask 20 times /v1/datasets/61
    19 wait
    legacy answers
    all -> 200 fwd=stale stale-if-error
    legacy got 2
    pass 999 ms
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    legacy got 0
    legacy is well
    pass 1 ms
    ask /v1/datasets/61 -> 200 fwd=stale stored ttl=600
  `;

  script("a failure that a caller with a key met counts for all")`
    ask /v1/datasets/61
    pass 2 d
    ask alice /v1/setup/3
    legacy got 2
    legacy is empty-500
    ask alice /v1/datasets/61 -> 200 fwd=stale stale-if-error
    legacy got 1
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    ask alice /v1/datasets/61 -> 200 fwd=stale stale-if-error
    legacy got 0
  `;

  script("only the first request waits for a legacy that is down")`
    ask /v1/datasets/61
    pass 2 d
    legacy is down
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    # A GET whose connection breaks is sent once more.
    legacy got 3
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    legacy got 0
    legacy is well
    pass 1 s
    ask /v1/datasets/61 -> 200 fwd=stale stored ttl=600
  `;

  const briefly = { CACHE_LIFETIMES: '{"getDataset": {"fresh": "60s", "staleWhileRevalidate": "0s"}}' };
  script("a request waits for it at most five seconds; the fetch goes on", briefly, ["setTimeout", "clearTimeout"])`
    ask /v1/datasets/61 -> 200 nobody 1
    legacy got 1
    pass 60 s
    legacy changes
    legacy holds
    both: ask 2 times /v1/datasets/61
    1 wait
    legacy got 1
    pass 5 s
    both -> 200 nobody 1 fwd=stale stale-if-error
    # That counts as a failure: the next request does not wait at all.
    ask /v1/datasets/61 -> 200 nobody 1 fwd=stale stale-if-error
    legacy answers
    legacy got 0
    ask /v1/datasets/61 -> 200 nobody 2 hit
  `;
});
