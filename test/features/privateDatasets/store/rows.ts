import type { PrivateRow, Walk } from "../../../../src/features/privateDatasets/rows.ts";

/** Of the legacy that stores are of here. */
export const scope = "some_legacy-2026";

export const row = (id: number, name = `row ${id}`): PrivateRow => ({ id, shown: { name, tags: ["größer 漢字"] } });
export const walked = (checkedUpTo: number): Walk => ({ checkedUpTo, highest: 9000, listed: "AQID" });
