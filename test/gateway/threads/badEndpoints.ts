import type { Json } from "../../../src/catalogue/rules/rule.ts";
import { catalogue } from "../../../transforms/catalogue.ts";

const hoard = (): never => {
  const all: Json[] = [];
  for (;;) all.push(Array.from({ length: 1000 }, (_, i) => `${i} and ${all.length}`));
};

/** Without work for the processor. */
const hang = (): never => {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

const fail = (): never => {
  throw new Error("a rule that throws");
};

const faults: Record<string, () => never> = { hoard, hang, fail };

const { listDatasets } = catalogue.endpoints;

/** The endpoints, for threads. The list of datasets fails as the name of a dataset says. */
export const endpoints = {
  ...catalogue.endpoints,
  listDatasets: {
    ...listDatasets,
    output: {
      ...listDatasets.output,
      read(...of: Parameters<typeof listDatasets.output.read>) {
        const [, fault = ""] = /"(hoard|hang|fail)"/.exec(JSON.stringify(of[0])) ?? [];
        faults[fault]?.();
        return listDatasets.output.read(...of);
      },
    },
  },
};
