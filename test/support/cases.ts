/** Whether tests try all their cases: `npm run check:cases`. */
export const isLongRun = process.env["CASES"] !== undefined;

/** How many cases a test tries: so many, in a long run what `CASES` says. */
export const casesOf = (quick: number): number => Number(process.env["CASES"] ?? quick);
