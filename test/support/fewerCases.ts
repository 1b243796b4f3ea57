import fc from "fast-check";

// Where a property does not say itself how many cases it tries; in the whole run it is 100.
fc.configureGlobal({ numRuns: 20 });
