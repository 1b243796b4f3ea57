/** Change something inside a document. */
export const documentFaults = [
  "wrongType",
  "missingField",
  "extraField",
  "emptyForNull",
  "otherValue",
  "reorderedList",
  "lostEntry",
] as const;

/** Change the whole answer, which is still one. */
export const answerFaults = ["otherStatus", "problemJson"] as const;

/** Leave no document to be compared, or none in time. */
export type TransportFault = "late" | "down" | "halfBody" | "html" | "dripping" | "redirect";

export type DocumentFault = (typeof documentFaults)[number];

/** One way in which the stand-in is wrong. */
export type Fault = {
  /** An endpoint's name, or `*` for all. */
  endpoint: string;
  fault: DocumentFault | (typeof answerFaults)[number] | TransportFault;
  /** A JSON pointer, `*` for the entries of a list. Default: a fitting place. */
  path?: string;
  /** Of the requests, in percent. Default: all. */
  share?: number;
  /** `late`: the wait (default: 3000); `dripping`: between two bytes (default: 100). */
  ms?: number;
  /** For `otherStatus`, `html` and `redirect`. */
  status?: number;
  /** False: only at the first of equal requests. */
  again?: boolean;
};
