/** The most characters of the JSON of all samples together. */
const MAX_CHARS = 8 * 1024 ** 2;

const charsOf = (sample: object | undefined): number => (sample === undefined ? 0 : JSON.stringify(sample).length);

/** The room in memory for samples of compared answers. */
export class SampleRoom {
  #free = MAX_CHARS;

  /** Takes the room for a sample, which may replace another. False: not enough is left. */
  take(sample: object, replaced?: object): boolean {
    const growth = charsOf(sample) - charsOf(replaced);
    if (growth > this.#free) return false;
    this.#free -= growth;
    return true;
  }

  /** Frees the room of a removed sample. */
  free(sample: object): void {
    this.#free += charsOf(sample);
  }
}
