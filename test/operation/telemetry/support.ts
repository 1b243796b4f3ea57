import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

/** A pipe that is read when the test says so. */
export const openPipe = () => {
  const path = join(temporaryFolder(), "log");
  execFileSync("mkfifo", [path]);
  // Read and write, so that opening does not wait for the other side.
  const ours = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(ours));
  const untilItCannot = (step: () => number): void => {
    try {
      while (step() > 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  };
  return {
    /**
     * The end for a writer; `blocking` as a process gets it from its parent. It stays open: a log may still write when
     * its test has ended, and a closed descriptor's number would by then be another test's connection.
     */
    writer: (blocking = false): number => openSync(path, constants.O_RDWR | (blocking ? 0 : constants.O_NONBLOCK)),
    /** Fills it until nothing more goes in. */
    fill(): void {
      for (const size of [4096, 1]) untilItCannot(() => writeSync(ours, "x".repeat(size)));
    },
    /** Takes out its content. */
    read(): string {
      const buffer = Buffer.alloc(65_536);
      const parts: Buffer[] = [];
      untilItCannot(() => {
        const length = readSync(ours, buffer);
        parts.push(Buffer.from(buffer.subarray(0, length)));
        return length;
      });
      return Buffer.concat(parts).toString();
    },
  };
};
