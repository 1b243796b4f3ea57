import fc from "fast-check";

/** Any character of Unicode but halves of pairs; every second character is ASCII. */
const character = fc.oneof(
  fc.nat({ max: 0x7f }).map((code) => String.fromCodePoint(code)),
  fc.nat({ max: 0x10_f7_ff }).map((code) => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00)),
);

/** Any text. fast-check's own unit `binary` makes a map of a million characters in each thread of the tests. */
export const anyText = (bounds: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...bounds, unit: character });

/**
 * Any path, percent-encoded where it must be; without segments it is empty. fast-check's `webPath`
 * is made of `binary` texts.
 */
export const anyPath = (): fc.Arbitrary<string> =>
  fc
    .array(anyText({ maxLength: 10 }), { maxLength: 6 })
    .map((segments) => segments.map((segment) => `/${encodeURIComponent(segment)}`).join(""));
