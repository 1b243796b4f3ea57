import { hash } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import type { Answer, AskOptions } from "../torture/lib/client.ts";

/**
 * The writes to a group (RFC 9875), counted: those that clients have begun and ended, those that delete all entries of
 * the group (`deleting`: begun), and those that legacy has applied. `answered`, `deleted`: the count of applied ones at
 * the last one of all, and at the last deleting one, that was answered.
 */
export type Group = Record<"begun" | "ended" | "deleting" | "applied" | "answered" | "deleted", number>;

/** A write to some groups. It leaves the lists of the groups `left` for failures of legacy. */
export class Write {
  readonly request: AskOptions & { path: string };
  readonly #groups: readonly Group[];
  readonly #left: readonly Group[];
  #applied: readonly number[] = [];

  constructor(request: AskOptions & { path: string }, groups: readonly Group[], left: readonly Group[]) {
    this.request = request;
    this.#groups = groups;
    this.#left = left;
  }

  begin(): void {
    for (const group of this.#groups) {
      group.begun++;
      if (!this.#left.includes(group)) group.deleting++;
    }
  }

  apply(): void {
    this.#applied = this.#groups.map((group) => ++group.applied);
  }

  end(isAnswered: boolean): void {
    for (const [i, group] of this.#groups.entries()) {
      group.ended++;
      const applied = isAnswered ? (this.#applied[i] as number) : 0;
      group.answered = Math.max(group.answered, applied);
      if (!this.#left.includes(group)) group.deleted = Math.max(group.deleted, applied);
    }
  }
}

type AddressSettings = {
  path: string;
  /** The path at legacy, without its interface. */
  legacyPath: string;
  /** It belongs to the new interface. */
  isTransformed: boolean;
  groups: readonly Group[];
  /** Legacy's document, which shows a text. */
  document: (text: string) => string;
};

/** An address, and what the cache must have of it. The version of its document is the number of writes to it. */
export class Address {
  readonly path: string;
  readonly #settings: AddressSettings;
  /** Digests of the transformed answers, by their versions. */
  readonly #seen = new Map<number, string>();
  /** The versions that were served while no write was under way: since when, and how many had deleted it before. */
  #stored: { version: number; at: number; deleting: number }[] = [];
  /** It was asked for. */
  isKnown = false;

  constructor(settings: AddressSettings) {
    this.path = settings.path;
    this.#settings = settings;
  }

  #sum(count: keyof Group): number {
    return this.#settings.groups.reduce((sum, group) => sum + group[count], 0);
  }

  /** Legacy's document in a version, by default as it is now. */
  text(version = this.#sum("applied")): string {
    return this.#settings.document(`version ${version} of ${this.#settings.legacyPath}`);
  }

  /** Called before a read. What it returns takes the answer, and says what is wrong with it. */
  reading(): (answer: Answer) => string | undefined {
    const [least, begun, ended] = [this.#sum("answered"), this.#sum("begun"), this.#sum("ended")];
    this.isKnown = true;
    return (answer) => {
      const version = this.#versionIn(answer);
      if (typeof version === "string") return version;
      const [last, deleting] = [this.#stored.at(-1), this.#sum("deleting")];
      const isQuiet = begun === ended && begun === this.#sum("begun");
      if (isQuiet && (last?.version !== version || last.deleting !== deleting))
        this.#stored.push({ version, at: performance.now(), deleting });
      return version < least ? `version ${version}, but ${least} was written before` : undefined;
    };
  }

  /**
   * Says what is wrong with an answer while legacy is dead; "missing" if there is none, although the cache must have
   * what went out before `by`.
   */
  verify(answer: Answer, by: number): string | undefined {
    const deleting = this.#sum("deleting");
    const due = this.#stored.findLast((stored) => stored.at < by && stored.deleting === deleting);
    const isFailure = answer.status >= 500 || answer.status === 0;
    if (isFailure && due !== undefined) return "missing";
    this.#stored = [];
    if (isFailure) return undefined;
    const version = this.#versionIn(answer);
    if (typeof version === "string") return version;
    this.#stored.push({ version, at: performance.now(), deleting });
    const least = Math.max(due?.version ?? 0, this.#sum("deleted"));
    return version < least ? `version ${version}, but ${least} is due` : undefined;
  }

  /** The version of an answer, or what is wrong with it. */
  #versionIn({ status, headers, body: sent }: Answer): number | string {
    const { legacyPath, isTransformed } = this.#settings;
    const body = headers["content-encoding"] === "br" ? brotliDecompressSync(sent) : sent;
    const text = body.toString();
    const [, found, path] = /version (\d+) of ([\w/]+)/.exec(text) ?? [];
    const version = Number(found);
    const shown = text.slice(0, 200);
    if (status !== 200 || path !== legacyPath) return `${status} ${shown}`;
    if (version > this.#sum("applied")) return `version ${version}, which was not written`;
    if (!isTransformed) return text === this.text(version) ? version : `other bytes: ${shown}`;
    const digest = hash("sha256", body);
    if ((this.#seen.get(version) ?? digest) !== digest) return `other bytes: ${shown}`;
    this.#seen.set(version, digest);
    return version;
  }
}
