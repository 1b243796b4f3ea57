import type { Attack } from "../lib/attack.ts";
import { fuzz } from "./fuzz.ts";

/** Every attack, in the order in which they run. */
export const attacks: readonly Attack[] = [fuzz];
