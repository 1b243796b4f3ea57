import { describe } from "vitest";
import { script } from "./script.ts";
import { kept } from "./support.ts";

const lifetimes = { fresh: "2h", staleWhileRevalidate: "7d" };
const long = {
  CACHE_LIFETIMES: JSON.stringify({ getDataset: lifetimes, listDatasets: lifetimes, getSetup: lifetimes }),
};

describe("a public record: 10 min fresh, 1 h stale while revalidated, 7 d stale if error", () => {
  script("is served with its age and lifetimes, and while legacy is down until they are over")`
    ask /v1/datasets/61 -> 200 nobody 1 fwd=uri-miss stored ttl=600
    legacy is down
    pass 5 min
    ask /v1/datasets/61 -> 200 nobody 1 hit ttl=300
    says Cache-Control: public, max-age=600, stale-while-revalidate=3600, stale-if-error=604800
    says Cache-Groups: "dataset/61", "dataset"
    says Age: 300
    pass 1 s
    ask /v1/datasets/61 -> 200 nobody 1 hit ttl=299
    says Age: 301
    pass 2099 s
    ask /v1/datasets/61 -> 200 nobody 1 hit ttl=-1800 stale-while-revalidate
    says Age: 2400
    pass 3 d
    ask /v1/datasets/61 -> 200 nobody 1 fwd=stale ttl=-261000 stale-if-error
    says Age: 261600
    pass 5 d
    ask /v1/datasets/61 -> 502
    says Cache-Control: no-store
  `;

  script("each lifetime ends at its last millisecond")`
    ask /v1/datasets/61
    pass 599999 ms
    ask /v1/datasets/61 -> 200 hit
    legacy is empty-500
    pass 1 ms
    ask /v1/datasets/61 -> 200 hit stale-while-revalidate
    pass 3599999 ms
    ask /v1/datasets/61 -> 200 hit stale-while-revalidate
    pass 1 ms
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    pass 601199999 ms
    ask /v1/datasets/61 -> 200 fwd=stale stale-if-error
    pass 1 ms
    ask /v1/datasets/61 -> 502
  `;
});

describe("an answer that belongs to a key", () => {
  for (const [title, environment] of [
    ["by default", {}],
    ["whatever CACHE_LIFETIMES says", long],
  ] as const) {
    const paths = Object.values(kept);
    const all = (step: string) => paths.map((path) => step.replace("PATH", path)).join("\n");
    script(`is fresh for a minute at most, ${title}`, environment)`
      ${all("ask alice PATH")}
      pass 59999 ms
      legacy changes
      ${all("ask alice PATH -> 200 alice 1 hit")}
      pass 1 ms
      ${all("ask alice PATH -> 200 alice 2 fwd=uri-miss stored")}
    `;
  }

  script("is never served stale, even if legacy fails and the client allows it")`
    legacy shows all to alice alone
    ask alice /v1/datasets/61
    pass 60 s
    # The key is good all the time.
    ask alice /v1/datasets/abc
    legacy is down
    ask alice /v1/datasets/61 with Cache-Control: max-stale -> 502
    ask alice /v1/datasets/61 with Cache-Control: only-if-cached -> 504
  `;

  for (const seconds of [30, 3600])
    script(`does not live longer if the wall clock goes back ${seconds} s`)`
      ask alice /v1/datasets/61
      pass 59 s
      the wall clock goes back ${seconds} s
      pass 1 s
      legacy changes
      ask alice /v1/datasets/61 -> 200 alice 2
    `;
});

describe("CACHE_LIFETIMES", () => {
  script("leaves a record that may turn private stale for an hour at most", long)`
    ask ${kept.getDataset}
    says Cache-Control: public, max-age=7200, stale-while-revalidate=3600, stale-if-error=604800
    ask ${kept.listDatasets}
    says Cache-Control: public, max-age=7200, stale-while-revalidate=3600, stale-if-error=604800
    ask ${kept.getStudy}
    says Cache-Control: public, max-age=300, stale-while-revalidate=3600, stale-if-error=604800
    ask ${kept.getSetup}
    says Cache-Control: public, max-age=7200, stale-while-revalidate=604800, stale-if-error=604800
  `;

  script("sets one lifetime, and leaves the others", {
    CACHE_LIFETIMES: '{"getDataset": {"fresh": "5s", "staleWhileRevalidate": "0s"}}',
  })`
    ask /v1/datasets/61
    says Cache-Control: public, max-age=5, stale-if-error=604800
    pass 5 s
    ask /v1/datasets/61 -> 200 fwd=stale stored ttl=5
  `;
});

script("a refresh is tried again, and ages go on, if the wall clock goes back")`
  ask /v1/datasets/61
  pass 15 min
  legacy is empty-500
  ask /v1/datasets/61 -> 200 hit stale-while-revalidate
  legacy got 2
  the wall clock goes back 600 s
  pass 2 s
  ask /v1/datasets/61 -> 200 hit stale-while-revalidate
  says Age: 902
  legacy got 1
`;

for (const path of ["/v1/datasets/61", "/v1/studies/no-such-alias"])
  script(`the 404 of ${path} is fresh for a minute, and never stale`)`
    legacy loses all
    ask ${path} -> 404 fwd=uri-miss stored ttl=60
    says Cache-Control: public, max-age=60
    pass 59999 ms
    ask ${path} -> 404 hit
    legacy is empty-500
    pass 1 ms
    ask ${path} -> 502 fwd=uri-miss
  `;
