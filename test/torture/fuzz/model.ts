/** The truth about the catalogue that the fuzz serves. The upstream answers by it, and the oracle judges by it. */

export type User = "ann" | "bob";
export type Dataset = { id: number; name: string; owner: User; visibility: "public" | "private" };

export const MAX_ID = 3000;

/** Legacy's keys. It does not know the key of `stranger`. */
export const keys = {
  ann: "aaaa0000000000000000000000000001",
  bob: "bbbb0000000000000000000000000002",
  stranger: "dead000000000000000000000000beef",
};

/** Every 17th id names nothing, every 13th a private dataset. */
export const datasetOf = (id: number): Dataset | undefined => {
  if (id < 1 || id > MAX_ID || id % 17 === 0) return undefined;
  const owner = id % 2 === 0 ? "ann" : "bob";
  return { id, owner, visibility: id % 13 === 0 ? "private" : "public", name: `dataset ${id} of ${owner}` };
};

export const maySee = (user: string | undefined, { owner, visibility }: Dataset): boolean =>
  visibility === "public" || owner === user;

const datasets = Array.from({ length: MAX_ID }, (_, index) => datasetOf(index + 1)).filter(
  (dataset) => dataset !== undefined,
);
const listed = new Map<string | undefined, Dataset[]>();

/** The datasets that legacy lists to this user, by ascending id. */
export const datasetsFor = (user: string | undefined): Dataset[] => {
  const known = listed.get(user) ?? datasets.filter((dataset) => maySee(user, dataset));
  listed.set(user, known);
  return known;
};

export const measures = ["area_under_roc_curve", "kappa", "predictive_accuracy"];

/** Every 5th study id is a legacy study by its tag; every 7th does not exist. */
export const studyOf = (id: number): "sound" | "absent" | "byTag" =>
  id % 7 === 0 ? "absent" : id % 5 === 0 ? "byTag" : "sound";

/** Flows are called `flow.N`; those whose number divides by 3 do not exist. */
export const flowOf = (number: number): number | undefined => (number % 3 === 0 ? undefined : 1000 + number);

/** The number of parameters of a setup; `undefined` if there is no such setup. */
export const setupParameters = (id: number): number | undefined => (id % 11 === 0 ? undefined : id % 4);

/** A text of this many characters that stands in long answers. */
export const filler = (length: number): string => TEXT.slice(0, length);
const TEXT = "lorem ipsum dolor sit amet ".repeat(12_000);
