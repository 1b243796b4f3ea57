/** A set of answers by their numbers (0, 1, ...), a bit for each number. */
export class AnswerSet {
  #words = new Uint32Array(1);
  #size = 0;

  /** The answers in the set. */
  get size(): number {
    return this.#size;
  }

  /** False if the set has the answer already. */
  add(answer: number): boolean {
    const word = answer >> 5;
    if (word >= this.#words.length) {
      const grown = new Uint32Array(2 * word);
      grown.set(this.#words);
      this.#words = grown;
    }
    return this.#set(answer, true);
  }

  /** False if the set does not have the answer. */
  delete(answer: number): boolean {
    return this.#set(answer, false);
  }

  #set(answer: number, isIn: boolean): boolean {
    const [word, bit] = [this.#words[answer >> 5] ?? 0, 1 << (answer & 31)];
    if (((word & bit) !== 0) === isIn) return false;
    this.#words[answer >> 5] = word ^ bit;
    this.#size += isIn ? 1 : -1;
    return true;
  }

  /** The number of answers that are in at least one of these sets. */
  static sizeOfUnion(sets: readonly AnswerSet[]): number {
    const length = Math.max(0, ...sets.map((set) => set.#words.length));
    let size = 0;
    for (let i = 0; i < length; i++)
      for (let union = sets.reduce((bits, set) => bits | (set.#words[i] ?? 0), 0); union !== 0; union &= union - 1)
        size++;
    return size;
  }
}
