import { expect, test } from "vitest";
import { bytes, duration, percent, rate } from "../../../libraries/ui/wording.ts";

test.each([
  [percent(1), "100 %"],
  [percent(0.9999), "99.9 %"],
  [percent(0.29), "29 %"],
  [percent(Number.NaN), "–"],
  [rate(0), "0"],
  [rate(0.123), "0.12"],
  [rate(12.41), "12.4"],
  [rate(1204.2), "1,204"],
  [duration(96.2), "96 ms"],
  [duration(1240), "1.2 s"],
  [duration(61_000), "61 s"],
  [bytes(0), "0 bytes"],
  [bytes(1536), "1.5 KiB"],
  [bytes(67_108_864), "64 MiB"],
])("a figure is shown as %s", (shown, expected) => expect(shown).toBe(expected));
