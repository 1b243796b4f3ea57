/** How much a test tries: in the unit lane, which people wait for, and in the whole run. */
export const inLane = (unit: number, whole: number): number => (process.env["LANE"] === "unit" ? unit : whole);
