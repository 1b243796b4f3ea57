import { gzipSync } from "node:zlib";
import type { Beginning } from "../../../src/proxy/heldAnswer.ts";
import { openFeed } from "../../../src/features/privateDatasets/feed.ts";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";
import { legacyErrors } from "../../../transforms/legacyErrors.ts";
import { privateDatasets } from "../../../transforms/privateDatasets.ts";

/** A feed to an index that knows 3 and 5, the latter of user 16; and what it asks to be looked at. */
export const openedFeed = () => {
  const asked: number[] = [];
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  index.put({ id: 3, shown: { name: "kept" } });
  index.put({ id: 5, uploader: 16 });
  const feed = openFeed({
    knowledge: privateDatasets,
    index,
    questions: { ask: (id) => void asked.push(id) },
    walkSoon: () => void asked.push(Infinity),
    errors: legacyErrors,
    unsettled: 60_000,
  });
  return { asked, index, feed };
};

export const answer = (body: string | Buffer, status = 200): Beginning => ({
  status,
  headers: {},
  body: Buffer.from(body),
});
export const zipped = ({ status, body }: Beginning, length = 1e6) => ({
  status,
  headers: { "content-encoding": "gzip" },
  body: gzipSync(body).subarray(0, length),
});
export const error = (code: number) =>
  answer(`<oml:error xmlns:oml="http://openml.org/openml"><oml:code>${code}</oml:code></oml:error>`, 412);
export const jsonError = (code: number) => answer(JSON.stringify({ error: { code: `${code}`, message: "x" } }), 412);
