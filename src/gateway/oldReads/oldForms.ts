import type { Socket } from "node:net";
import type { Answer, Jobs } from "../../catalogue/index.ts";
import type { Additions, OldReadBackend } from "../answer/additions.ts";
import type { Context } from "../answer/context.ts";
import type { WholeCore } from "../answer/core.ts";
import { bytesOf, entryOf } from "../cache/entry.ts";
import { type Served, uncached } from "../cache/served.ts";
import { openSingleFlight } from "../cache/singleFlight.ts";
import { type MovedRead, oldError } from "./movedRead.ts";
import type { OldRead } from "./oldRead.ts";

/** The most pages that are joined to a list without a limit, and the most lists that are joined at a time. */
const MAX_PAGES = 50;
const MAX_JOINING = 3;

/** The backend of moved reads, and the sides of each endpoint. */
export type MovedParts = { backend: OldReadBackend; decide: Additions["decide"] };

/** A read of an old client, as a request of the new interface. `ask`: gives the backend's answers, or those stored. */
type Asked = { read: OldRead; moved: MovedRead; context: Context; ask: OldReadBackend["read"] };

/** Writes the backend's answers in legacy's form: documents, errors, and lists without a limit, of several pages. */
export class OldForms {
  readonly #core: WholeCore;
  readonly #backend: OldReadBackend;
  readonly #decide: Additions["decide"];
  readonly #joining;
  readonly #joiningClients = new Set<string>();
  /** The connections that wait for a list which is being joined. */
  readonly #waiting = new Map<string, Socket[]>();

  constructor(core: WholeCore, { backend, decide }: MovedParts) {
    this.#core = core;
    this.#backend = backend;
    this.#decide = decide;
    this.#joining = openSingleFlight<Answer | undefined>(2 * core.totalTimeout);
  }

  /** The same answer in legacy's form. The form stays with the entry, unless it is made of several. */
  async of(served: Served, asked: Asked): Promise<Served | undefined> {
    const { entry, answer } = served;
    const { read, moved } = asked;
    const kept = entry?.forms?.[moved.formName];
    if (entry && kept) {
      kept.freshUntil = entry.freshUntil;
      return { ...served, answer: kept, entry: kept };
    }
    const { none } = moved.form;
    const isNone = answer.status === 404 && none !== undefined;
    const written =
      answer.status === 200 || isNone
        ? await this.#write(isNone ? { ...answer, body: JSON.stringify(none) } : answer, asked)
        : oldError(this.#core.errors, answer, moved.form, read.form);
    if (written === "long") {
      const joined = await this.#join(answer, asked);
      return joined && uncached(joined, "bypass");
    }
    if (written === undefined) return undefined;
    if (entry === undefined) return { ...served, answer: written };
    const form = { ...entryOf(written, entry), freshUntil: entry.freshUntil };
    this.#core.cache.keepForm(moved.cacheKey.key, entry, moved.formName, form);
    return { ...served, answer: form, entry: form };
  }

  /** Writes a 200 in legacy's form. `long`: it is the first page of several. */
  async #write(answer: Answer, asked: Asked): Promise<Answer | "long" | undefined> {
    const { read, moved, context } = asked;
    const body = () => Buffer.from(bytesOf(answer.body));
    const task = { endpoint: moved.endpoint.name, format: read.form };
    let form = await this.#writeForm({ ...task, page: moved.page }, body(), context);
    if (form !== undefined && moved.page !== undefined && form.rows >= moved.page) return "long";
    // Legacy has no list without rows: it says that nothing was found.
    if (form?.rows === 0 && moved.form.page !== undefined) return undefined;
    if (form && "needs" in form) {
      const others = await this.#askOthers(form.needs, asked);
      form = others && (await this.#writeForm({ ...task, others: listOf(others).toString() }, body(), context));
    }
    return form && "written" in form ? { ...form.written.answer, judged: answer.status } : undefined;
  }

  /** The bytes of a large body go to a thread: it has to be a copy. */
  async #writeForm(task: Jobs["oldForm"]["task"], body: Buffer, { deadline, holding }: Context) {
    const form = await this.#core.reader.writeOldForm(task, body, deadline, holding);
    return "failure" in form || "failed" in form ? undefined : form;
  }

  /** The backend's documents with the values that these rows lack. */
  async #askOthers(
    inputs: readonly Record<string, unknown>[],
    { moved, context, ask }: Asked,
  ): Promise<Buffer[] | undefined> {
    const endpoint = this.#core.endpoints.find(({ name }) => name === moved.form.complete?.endpoint);
    if (endpoint === undefined || this.#decide(endpoint.name, context).backend === "legacy") return undefined;
    const found: Buffer[] = [];
    for (const input of inputs) {
      const served = await ask({ ...context, endpoint, input, legacy: endpoint.legacy(input) });
      if (served?.answer.status !== 200 && served?.answer.status !== 404) return undefined;
      if (served.answer.status === 200) found.push(bytesOf(served.answer.body));
    }
    return found;
  }

  /** Joins the pages of a list, once for all who ask for it at a time. `undefined`: too many are joined now. */
  async #join(first: Answer, asked: Asked): Promise<Answer | undefined> {
    const { read, moved, context, ask } = asked;
    const { client, form, owner = "" } = read;
    const isStored = ask === this.#backend.readStored;
    const id = `${moved.cacheKey.key} ${form} ${isStored} ${context.key === undefined ? "" : owner}`;
    const waiting = this.#waiting.get(id) ?? [];
    if (context.incoming) waiting.push(context.incoming.socket);
    const running = this.#joining.get(id);
    if (running !== undefined) return running;
    if (this.#joiningClients.size >= MAX_JOINING || this.#joiningClients.has(client)) return undefined;
    this.#joiningClients.add(client);
    this.#waiting.set(id, waiting);
    // Legacy needs time, too, if a page fails.
    const deadline = performance.now() + this.#core.totalTimeout / 2;
    const isAwaited = () => performance.now() < deadline && waiting.some(({ destroyed }) => !destroyed);
    try {
      return await this.#joining.launch(id, this.#joinPages(bytesOf(first.body), asked, isAwaited));
    } finally {
      this.#joiningClients.delete(client);
      this.#waiting.delete(id);
    }
  }

  async #joinPages(first: Buffer, asked: Asked, isAwaited: () => boolean): Promise<Answer | undefined> {
    const { read, moved, context, ask } = asked;
    const { form: format } = read;
    const { page = 0, input } = moved;
    const { name: endpoint } = moved.endpoint;
    const pages = [first];
    const others: Buffer[] = [];
    let bytes = first.length;
    for (let last = first; ; pages.push(last)) {
      const counted = await this.#writeForm({ endpoint, format, page: 0 }, Buffer.from(last), context);
      if (counted === undefined || !isAwaited()) return undefined;
      if ("needs" in counted && counted.needs.length > 0) {
        const found = await this.#askOthers(counted.needs, asked);
        if (found === undefined) return undefined;
        others.push(...found);
      }
      if (counted.rows < page) break;
      if (pages.length === MAX_PAGES) return undefined;
      const next = await ask({ ...context, input: { ...input, offset: pages.length * page } });
      if (next?.answer.status === 404) break;
      if (next?.answer.status !== 200) return undefined;
      last = bytesOf(next.answer.body);
      bytes += last.length;
      if (bytes > this.#core.settings.MAX_REPLY_BYTES || context.holding?.take(last.length) === false) return undefined;
    }
    const task = { endpoint, format, others: listOf(others).toString() };
    const whole = await this.#writeForm(task, listOf(pages), context);
    return whole && "written" in whole ? whole.written.answer : undefined;
  }
}

/** Joins JSON lists to one. Large lists are not made texts: that would take the event loop's time. */
const listOf = (lists: readonly Buffer[]): Buffer => {
  const rows = lists.filter(({ length }) => length > 2).map((list) => list.subarray(1, -1));
  const [open, comma, close] = ["[", ",", "]"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  return Buffer.concat([open, ...rows.flatMap((list, i) => (i === 0 ? [list] : [comma, list])), close]);
};
