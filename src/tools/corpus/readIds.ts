/** As many ids as are taken at once. */
const MAX_IDS = 10_000_000;

type Range = { from: number; to: number };

/** `1..131,200,300..302` -> those ids, in this order, made as they are taken; or what is wrong with the text. */
export const readIds = (text: string): { ids: Iterable<number>; count: number } | { errors: string[] } => {
  const readings = text.split(",").map(readRange);
  const errors = readings.flatMap((reading) => ("error" in reading ? [reading.error] : []));
  if (errors.length > 0) return { errors: errors.slice(0, 10) };
  const ranges = readings.flatMap((reading) => ("error" in reading ? [] : [reading]));
  const count = ranges.reduce((sum, { from, to }) => sum + (to - from) + 1, 0);
  if (count > MAX_IDS) return { errors: [`These are more than ${MAX_IDS} ids.`] };
  return { ids: { [Symbol.iterator]: () => each(ranges) }, count };
};

const readRange = (part: string): Range | { error: string } => {
  const shown = JSON.stringify(part.trim().slice(0, 40));
  const bounds = /^([0-9]{1,15})(?:\.\.([0-9]{1,15}))?$/.exec(part.trim());
  if (!bounds) return { error: `${shown} is neither an id nor a range of them (1..131).` };
  const from = Number(bounds[1]);
  const to = Number(bounds[2] ?? bounds[1]);
  return from > to ? { error: `${shown} goes from high to low.` } : { from, to };
};

const each = function* (ranges: readonly Range[]): Generator<number> {
  for (const { from, to } of ranges) for (let id = from; id <= to; id++) yield id;
};
