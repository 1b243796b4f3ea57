import type { CheckReport } from "../libraries/check/checkReport.ts";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { request } from "undici";
import {
  contentCoding,
  type Gateway,
  legacyJudge,
  openUpstream,
  ownHeaders,
  upstreamSettings,
} from "../src/gateway/index.ts";

/** A read of legacy without a key. `path`: below `LEGACY_PATH` and the format. `text`: legacy's answer. */
export type SampleRead = { path: string; text: string };

/** The way to send a request. `host`: in place of `LEGACY_HOST`, or of the host of `LEGACY_URL`. */
type Way = { isVia: boolean; host?: string };

/** The answer that came. `isLegacys`: it comes from legacy, not from a front. */
type FrontAnswer = { status: number; isLegacys: boolean; isCoded: boolean };
type Ask = (path: string, way: Way) => Promise<FrontAnswer>;

/** Legacy refuses this key, whatever keys it knows: they are hexadecimal. */
const MADE_UP_KEY = "x".repeat(32);

/**
 * Checks the servers in front of legacy, which may treat requests differently: with and without `Via`, by the gateway's
 * probe, by the host that clients use, with a key that cannot exist, and by POST.
 */
export const checkFront = async (
  { core }: Gateway,
  report: CheckReport,
  reads: readonly SampleRead[],
): Promise<void> => {
  const { settings, catalogue, keys, totalTimeout } = core;
  const { ask, close } = openAsk(core);
  try {
    const read = await checkVia(reads, ask, report);
    if (read !== undefined) {
      await checkProbe(catalogue.keyProbes.reads.path, read, ask, report);
      const { LEGACY_HOST: own } = settings;
      const host = own === undefined ? publicHostIn(reads, catalogue.legacyPaths.files) : undefined;
      if (host !== undefined) await checkPublicHost(host, read, ask, report);
      if (own !== undefined)
        report.note(
          "LEGACY_HOST",
          `legacy is addressed as ${own}, and may redirect clients there: tell it its public name, if it is another one`,
        );
    }
  } catch (error) {
    report.note("before legacy", `what stands there could not be asked: ${(error as Error).message}`);
  } finally {
    await close();
  }
  const caller = { key: MADE_UP_KEY, headers: [], deadline: performance.now() + totalTimeout };
  const posted = await core.client(catalogue.keyProbes.writes, "json", caller);
  report.row(
    !("failed" in posted),
    "legacy, by POST",
    "failed" in posted ? posted.why : "answered",
    "let legacy, and what stands before it, answer a POST without an interim answer (100 Continue): behind it the answer to a write is lost",
  );
  const refusal = await keys.verify(caller, false);
  report.row(
    refusal !== undefined,
    "a key that cannot exist",
    refusal === undefined ? "legacy accepts it" : `not accepted: ${refusal.message}`,
    "does what stands before legacy drop the query string? No key reaches legacy then, and each counts as good",
  );
};

/** Sends legacy a request without the gateway's client, and describes the answer. */
const openAsk = ({ settings, readTarget }: Gateway["core"]): { ask: Ask; close: () => Promise<void> } => {
  const { LEGACY_URL: origin, LEGACY_CA: ca, LEGACY_HOST, LEGACY_PATH } = settings;
  const { pool } = openUpstream({ ...upstreamSettings(settings), origin, ca });
  const judge = legacyJudge(readTarget);
  const base = `${LEGACY_PATH === "/" ? "" : LEGACY_PATH}/json`;
  return {
    async ask(below, { isVia, host = LEGACY_HOST ?? new URL(origin).host }) {
      const line = { method: "GET", path: base + below };
      const own = ownHeaders(host, "json", "http");
      const headers = isVia ? own : own.filter((_, i) => own[i - (i % 2)] !== "via");
      const answer = await request(origin + line.path, {
        dispatcher: pool,
        headers: [...headers, "accept-encoding", "gzip"],
      });
      const head = { status: answer.statusCode, headers: answer.headers as IncomingHttpHeaders };
      const judgement = judge(line, { ...head, body: await beginningOf(answer.body) });
      const isLegacys = judgement !== "ill" && judgement !== "refused";
      return { status: head.status, isLegacys, isCoded: contentCoding(head.headers) !== "" };
    },
    close: () => pool.destroy(),
  };
};

/** The first part of a body; the rest is not read. */
const beginningOf = async (body: Readable): Promise<Buffer> => {
  for await (const chunk of body) return chunk as Buffer;
  return Buffer.alloc(0);
};

/**
 * Requests a read with and without `Via`, if possible a read that is compressed without it. Returns its path if legacy
 * answers it.
 */
const checkVia = async (reads: readonly SampleRead[], ask: Ask, report: CheckReport): Promise<string | undefined> => {
  let tried: { path: string; without: FrontAnswer } | undefined;
  for (const { path } of reads) {
    const without = await ask(path, { isVia: false });
    if (without.isLegacys) tried = { path, without };
    if (without.isLegacys && without.isCoded) break;
  }
  if (tried === undefined) return undefined;
  const { path, without } = tried;
  const withVia = await ask(path, { isVia: true });
  report.row(
    withVia.isLegacys,
    "legacy, with Via",
    withVia.isLegacys ? "answered as without it" : `${withVia.status} with Via, ${without.status} without, GET ${path}`,
    "let what stands before legacy pass requests with Via: the gateway has to send it",
  );
  if (withVia.isLegacys && without.isCoded && !withVia.isCoded)
    report.note(
      "legacy, with Via",
      "what stands before legacy compresses nothing for requests with Via, which the gateway has to send: in nginx set gzip_proxied any",
    );
  return withVia.isLegacys ? path : undefined;
};

/** The gateway finds out by a probe if legacy fails. */
const checkProbe = async (probe: string, read: string, ask: Ask, report: CheckReport): Promise<void> => {
  const answer = await ask(probe, { isVia: true });
  report.row(
    answer.isLegacys,
    "legacy's probe",
    answer.isLegacys
      ? "answered as reads are"
      : `GET ${probe} is answered ${answer.status} and not by legacy, GET ${read} is`,
    "let it pass as other requests: by it the gateway finds out whether legacy fails",
  );
};

/** A proxied request has the host that its client used, unless LEGACY_HOST replaces it. */
const checkPublicHost = async (host: string, read: string, ask: Ask, report: CheckReport): Promise<void> => {
  const answer = await ask(read, { isVia: true, host });
  const found = `legacy names itself ${host}; for this Host it answers ${answer.status}`;
  if (answer.isLegacys || answer.status === 421)
    report.row(answer.isLegacys, "LEGACY_HOST", found, "set LEGACY_HOST to the host of LEGACY_URL");
  else report.note("LEGACY_HOST", `${found}, and not by itself: if clients use that name, set LEGACY_HOST`);
};

/** The host of the first data file that an answer of legacy names. */
const publicHostIn = (reads: readonly SampleRead[], files: RegExp): string | undefined => {
  for (const { text } of reads)
    for (const [address] of text.matchAll(/https?:\/\/[^\s"'<>\\]+/g))
      if (URL.canParse(address) && files.test(new URL(address).pathname)) return new URL(address).host;
  return undefined;
};
