import type { Answered } from "../cache/reply.ts";
import { plainly } from "../cache/representation.ts";
import type { Answer } from "../outcome/answer.ts";

/** An answer for one caller alone; `fwd`: why legacy was asked, where it was. */
export const notKept = (answer: Answer, fwd?: "method" | "bypass"): Answered => ({
  representation: plainly(answer),
  cacheable: false,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});
