/** True if tests try all their cases: `npm run check:cases`. */
export const isLongRun = process.env["CASES"] !== undefined;

/** The number of cases that a test tries: `quick`, in a long run the value of `CASES`. */
export const casesOf = (quick: number): number => Number(process.env["CASES"] ?? quick);
