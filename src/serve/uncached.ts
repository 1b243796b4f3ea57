import type { Answered } from "../cache/reply.ts";
import { untagged } from "../cache/representation.ts";
import type { Answer } from "../endpoint/answer.ts";

/** An answer for one caller alone; `fwd`: why legacy was asked, where it was. */
export const uncached = (answer: Answer, fwd?: "method" | "bypass"): Answered => ({
  representation: untagged(answer),
  cacheable: false,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});
