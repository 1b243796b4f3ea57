/** The number of cases: fewer in the unit lane, which people wait for, than in the whole run. */
export const inLane = (unit: number, whole: number): number => (process.env["LANE"] === "unit" ? unit : whole);
