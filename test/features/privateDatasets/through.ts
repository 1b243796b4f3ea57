import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { type Bed, openBed } from "./bed.ts";
import type { ListInput } from "./model.ts";
import { type Caller, administrator, otherOwner, owner } from "./people.ts";
import { fewer, scanOf, scanSettings, type ScanningParts } from "./scanned.ts";
import { until } from "../../support/waiting.ts";

/** Two that anybody is listed, and one private row each of two owners and of an administrator. */
export const rows: DatasetRow[] = [
  completeDataset({ id: 2, name: "open", uploader: owner.user.id, tags: [["demo", 1]] }),
  completeDataset({ id: 3, name: "kept", uploader: owner.user.id, visibility: "private", tags: [["demo", 1]] }),
  completeDataset({ id: 5, name: "other", uploader: otherOwner.user.id, visibility: "private" }),
  completeDataset({ id: 6, name: "own", uploader: administrator.user.id, visibility: "private" }),
  completeDataset({ id: 9, name: "free", uploader: otherOwner.user.id }),
];

/** A list as a test looks at it: the ids, or the status of another answer. */
export type Listed = { ids: number[] | number; isIncomplete: boolean; headers: Headers };

/** A gateway that listens and has begun to scan, over a legacy whose rows a test changes. */
export const scanningThrough = async (
  over: readonly DatasetRow[] | Bed = rows,
  environment: Record<string, string> = {},
  parts: ScanningParts = {},
) => {
  const bed = "url" in over ? over : await openBed();
  if (!("url" in over)) {
    onTestFinished(() => bed.close());
    bed.use(over);
  }
  const gateway = await listeningGateway(
    bed.url,
    { ...scanSettings, ...environment },
    { ...parts, scan: { ...fewer, ...parts.scan } },
  );
  const privateRows = scanOf(gateway);
  await privateRows?.start();

  const headersFor = ({ key }: Caller) => (key === undefined ? {} : { "X-API-Key": key });
  const read = async (answer: Response): Promise<Listed> => {
    const body = answer.status === 200 ? ((await answer.json()) as { did: number }[]) : [];
    const isIncomplete = answer.headers.get("gateway-decision")?.endsWith("; private=incomplete") === true;
    return {
      ids: answer.status === 200 ? body.map(({ did }) => did) : answer.status,
      isIncomplete,
      headers: answer.headers,
    };
  };
  return {
    ...gateway,
    bed,
    state: () => privateRows?.state(),
    scanned: () => until(() => privateRows?.state().state === "complete"),
    /** Lists by a path, which the front may answer from its cache. */
    list: async (caller: Caller, filters = "status/all"): Promise<Listed> =>
      read(await fetch(`${gateway.url}/v1/data/list/${filters}`, { headers: headersFor(caller) })),
    post: async (caller: Caller, input: ListInput): Promise<Listed> =>
      read(
        await fetch(`${gateway.url}/v1/datasets/list`, {
          method: "POST",
          headers: { ...headersFor(caller), "Content-Type": "application/json" },
          body: JSON.stringify(input),
        }),
      ),
    get: (caller: Caller, id: number) => fetch(`${gateway.url}/v1/datasets/${id}`, { headers: headersFor(caller) }),
    /** The legacy interface, through the gateway. */
    legacy: async (caller: Caller, path: string, form?: Record<string, string>, method = form ? "POST" : "GET") => {
      const query = caller.key === undefined ? "" : `?api_key=${caller.key}`;
      const answer = await fetch(`${gateway.url}/api/v1/${path}${query}`, {
        method,
        ...(form ? { body: new URLSearchParams(form) } : {}),
      });
      return { status: answer.status, text: await answer.text() };
    },
  };
};

export const edited = (id: number, fields: string): Record<string, string> => ({
  data_id: String(id),
  edit_parameters: `<oml:data_edit_parameters xmlns:oml="http://openml.org/openml">${fields}</oml:data_edit_parameters>`,
});

/** The same when its first scan is over. */
export const through = async (...about: Parameters<typeof scanningThrough>) => {
  const gateway = await scanningThrough(...about);
  await gateway.scanned();
  return gateway;
};

/** A front before a legacy: it sees every request, and answers some in its place. */
export const fronted = async (datasets: readonly DatasetRow[] = rows) => {
  const bed = await openBed();
  bed.use(datasets);
  const seen: string[] = [];
  const front = {
    bed,
    seen,
    /** `true`: it is answered here, or not at all. */
    instead: undefined as ((target: string, response: ServerResponse) => boolean) | undefined,
    held: [] as ServerResponse[],
    /** Answers requests for these targets; without a status it holds them. */
    replace(targets: RegExp, status?: number, body = ""): void {
      front.instead = (target, response) => {
        const isIts = targets.test(target);
        if (isIts && status === undefined) front.held.push(response);
        else if (isIts && status !== undefined) response.writeHead(status).end(body);
        return isIts;
      };
    },
    /** Breaks off the held requests, and passes all others on. */
    release(): void {
      front.instead = undefined;
      for (const response of front.held.splice(0)) response.destroy();
    },
    asked: (by: Caller) => seen.filter((target) => by.key !== undefined && target.includes(by.key)),
    url: "",
  };
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const target = `${request.method} ${request.url}`;
    seen.push(target);
    if (front.instead?.(target, response)) return;
    const chunks = (await request.toArray()) as Buffer[];
    const answer = await fetch(bed.url + (request.url ?? ""), {
      method: request.method ?? "GET",
      headers: { "Content-Type": request.headers["content-type"] ?? "text/plain" },
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  onTestFinished(() => bed.close());
  front.url = await httpUpstream((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  return front;
};

type Front = Awaited<ReturnType<typeof fronted>>;

/** A gateway over it that has begun to scan. */
export const scanningOver = (front: Front, environment?: Record<string, string>, parts?: ScanningParts) =>
  scanningThrough({ ...front.bed, url: front.url }, environment, parts);

/** The same when its first scan is over. */
export const over = (front: Front, environment?: Record<string, string>, parts?: ScanningParts) =>
  through({ ...front.bed, url: front.url }, environment, parts);
