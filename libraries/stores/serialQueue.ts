/** Runs tasks one after the other; a failed task does not stop the next. */
export type SerialQueue = <T>(task: () => Promise<T>) => Promise<T>;

/** Opens an empty queue. */
export const openSerialQueue = (): SerialQueue => {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.catch(() => undefined);
    return turn;
  };
};
