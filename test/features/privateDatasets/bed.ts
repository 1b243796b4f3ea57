import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { users } from "./people.ts";

export type Bed = {
  url: string;
  /** Legacy's rows: a test changes them freely, and sees what was written through legacy. */
  datasets: DatasetRow[];
  /** Puts another catalogue in its place; the rows that are given stay as they are. */
  use: (rows: readonly DatasetRow[]) => void;
  close: () => Promise<void>;
};

/** A sample legacy whose catalogue is changed while it runs. */
export const openBed = async (): Promise<Bed> => {
  const datasets: DatasetRow[] = [];
  const { url, close } = await startSampleLegacy({ datasets, users });
  return {
    url,
    datasets,
    use: (rows) => datasets.splice(0, datasets.length, ...structuredClone([...rows])),
    close,
  };
};
