// The sample legacy with 50,000 ids: 6,000 public datasets and 40 private ones. The other ids are unknown.
import { completeDataset } from "../../src/tools/sampleLegacy/completeDataset.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { pseudoRandom } from "../pseudoRandom.ts";

const IDS = 50_000;
const LISTED = 6000;
const PRIVATE = 40;
const OWNER = 16;

const random = pseudoRandom(6);
const ids = new Set([IDS]);
while (ids.size < LISTED + PRIVATE) ids.add(1 + Math.floor(random() * IDS));

const datasets = [...ids].map((id, i) =>
  completeDataset({
    id,
    name: `dataset_${id % 3000}`,
    qualities: [684, null, 8, 5, 39, 898, 0, 22_175, 6, 33, 7],
    ...(i > LISTED - 1 ? { visibility: "private", uploader: OWNER } : {}),
  }),
);
const { url } = await startSampleLegacy({ datasets });
console.log(url);
