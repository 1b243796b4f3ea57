/** The lines of a stream, a batch at a time; `undefined` stands for one of more than `most` bytes, of which nothing is kept. */
export const linesOf = async function* (
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<(string | undefined)[]> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const finish = (): string | undefined => {
    const line = size > maxBytes ? undefined : Buffer.concat(parts).toString("utf8").replace(/\r$/, "");
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const batch: (string | undefined)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      batch.push(finish());
      start = end + 1;
    }
    add(chunk.subarray(start));
    if (batch.length > 0) yield batch;
  }
  if (size > 0) yield [finish()];
};
