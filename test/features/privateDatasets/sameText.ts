/** The Latin letters with an accent that MySQL's utf8_general_ci takes for the plain one, and sharp s. Others (ø, đ, ł) are letters of their own. */
const accented: Record<string, string> = {
  a: "àáâãäåāăą",
  c: "çćĉċč",
  d: "ď",
  e: "èéêëēĕėęě",
  g: "ĝğġģ",
  h: "ĥ",
  i: "ìíîïĩīĭį",
  j: "ĵ",
  k: "ķ",
  l: "ĺļľ",
  n: "ñńņň",
  o: "òóôõöōŏő",
  r: "ŕŗř",
  s: "śŝşšß",
  t: "ţť",
  u: "ùúûüũūŭůűų",
  w: "ŵ",
  y: "ýÿŷ",
  z: "źżž",
};

const plain = new Map(
  Object.entries(accented).flatMap(([letter, others]) => Array.from(others, (it) => [it, letter] as const)),
);

const key = (text: string): string =>
  Array.from(text.toLowerCase(), (letter) => plain.get(letter) ?? letter)
    .join("")
    .replace(/ +$/, "");

/** The same for the database: whatever their case, their accents and the blanks at their end. */
export const sameText = (a: string, b: string): boolean => key(a) === key(b);
