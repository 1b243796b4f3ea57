import type { Worker } from "node:worker_threads";

/** A thread that holds a database. Its first message says that it is open; then it answers each message, in order. */
export class StoringThread {
  readonly worker: Worker;
  /** The calls that wait for the thread's messages. */
  readonly #waiting: PromiseWithResolvers<unknown>[] = [];
  readonly #exit = Promise.withResolvers<void>();
  #failure: Error | undefined;

  /** `onFailed`: called once if it has failed, and when it has ended. From then on nothing is written. */
  constructor(worker: Worker, onFailed: (error: Error) => void) {
    this.worker = worker;
    this.#exit.promise.catch(() => undefined);
    const fail = (error: Error): void => {
      if (this.#failure !== undefined) return;
      this.#failure = error;
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      onFailed(error);
    };
    this.worker.on("message", (message: unknown) => {
      const waiting = this.#waiting.shift();
      if (message instanceof Error) waiting?.reject(message);
      else waiting?.resolve(message);
    });
    this.worker.on("error", (error: Error) => {
      fail(error);
      this.#exit.reject(error);
    });
    this.worker.on("exit", () => {
      fail(new Error("the thread that writes has ended; restart the gateway"));
      this.#exit.resolve();
    });
  }

  /** The reason why it answers no more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Sends a message without waiting for its answer. */
  send(message: unknown): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.worker.postMessage(message);
  }

  /** The next message that no other call waits for. Rejects if it is an error, or the thread fails. */
  nextMessage(): Promise<unknown> {
    const message = Promise.withResolvers<unknown>();
    this.#waiting.push(message);
    return message.promise;
  }

  /** Resolves when it has closed the database after the last write. It does not keep the process alive any more. */
  close(): Promise<void> {
    this.send("close");
    this.worker.unref();
    return this.#exit.promise;
  }
}
