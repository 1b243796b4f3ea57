/** A job that waits: its caller, and the bytes it holds. */
export type Queued = { caller: string; bytes: number };

/** A queue with two bounds that serves its callers in turn, however many jobs one of them has. */
type FairQueue<T extends Queued> = {
  /** Adds a job. Returns the jobs that had to go for it, perhaps itself: the newest of the caller that holds most bytes. */
  add(job: T): T[];
  /** Takes the oldest job of the caller whose turn it is. */
  take(): T | undefined;
  /** Takes out a job that is not wanted any more; false where it is not here. */
  remove(job: T): boolean;
  size(): { jobs: number; bytes: number };
};

/** Opens an empty queue with these bounds. */
export const openFairQueue = <T extends Queued>({
  jobs: maxJobs,
  bytes: maxBytes,
}: {
  jobs: number;
  bytes: number;
}): FairQueue<T> => {
  // In the order of their turns: a caller that has had one goes to the end.
  const callers = new Map<string, { jobs: T[]; bytes: number }>();
  let jobs = 0;
  let bytes = 0;

  const takeAt = (caller: string, index: number): T | undefined => {
    const own = callers.get(caller);
    const [job] = own?.jobs.splice(index, 1) ?? [];
    if (own === undefined || job === undefined) return undefined;
    own.bytes -= job.bytes;
    jobs--;
    bytes -= job.bytes;
    if (own.jobs.length === 0) callers.delete(caller);
    return job;
  };

  const isOver = (): boolean => jobs > maxJobs || bytes > maxBytes;

  const greediest = (): string => {
    let [most, found] = [-1, ""];
    for (const [caller, own] of callers) if (own.bytes > most) [most, found] = [own.bytes, caller];
    return found;
  };

  return {
    add(job) {
      const own = callers.get(job.caller) ?? { jobs: [], bytes: 0 };
      callers.set(job.caller, own);
      own.jobs.push(job);
      own.bytes += job.bytes;
      jobs++;
      bytes += job.bytes;
      const gone: T[] = [];
      for (let refused: T | undefined = job; refused !== undefined && isOver();) {
        refused = takeAt(greediest(), -1);
        if (refused !== undefined) gone.push(refused);
      }
      return gone;
    },
    take() {
      const [caller] = callers.keys();
      if (caller === undefined) return undefined;
      const job = takeAt(caller, 0);
      const own = callers.get(caller);
      if (own !== undefined) {
        callers.delete(caller);
        callers.set(caller, own);
      }
      return job;
    },
    remove(job) {
      const index = callers.get(job.caller)?.jobs.indexOf(job) ?? -1;
      return index !== -1 && takeAt(job.caller, index) !== undefined;
    },
    size: () => ({ jobs, bytes }),
  };
};
