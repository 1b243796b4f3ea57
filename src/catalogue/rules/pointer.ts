/** One step down a JSON pointer (RFC 6901). */
export const childPointer = (pointer: string, key: string | number): string =>
  `${pointer}/${typeof key === "number" ? key : key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** `/tag/0` -> `["tag", "0"]` */
export const pointerSteps = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
