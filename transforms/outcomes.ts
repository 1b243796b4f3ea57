import type { Outcome } from "../src/endpoint/outcome.ts";

// Legacy's own codes and messages, for answers that the gateway gives without a request to legacy.
const notFound = (code: string, message: string): Outcome => ({ kind: "notFound", code, message });

export const unknownDataset = notFound("111", "Unknown dataset");
export const unknownSetup = notFound("281", "Unknown setup");
export const unknownStudy = notFound("601", "Study does not exist.");
export const unknownEntity = notFound("472", "Entity not found.");
export const noDatasets = notFound("372", "No results");
export const unknownFlow: Outcome = { kind: "notFound", message: "Flow not found." };
export const legacyStudy: Outcome = { kind: "gone", message: "Legacy studies are no longer supported." };
