import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { PrivateDatasetsParts } from "../../../features/privateDatasets/feature.ts";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { type Bed, openBed } from "./bed.ts";
import { type Caller, administrator, otherOwner, owner, secondAdministrator } from "./people.ts";
import { until } from "../../support/waiting.ts";

/** Two public datasets, and a private dataset each of two owners and of an administrator. */
export const rows: DatasetRow[] = [
  completeDataset({ id: 2, name: "open", uploader: owner.user.id, tags: [["demo", 1]] }),
  completeDataset({ id: 3, name: "kept", uploader: owner.user.id, visibility: "private", tags: [["demo", 1]] }),
  completeDataset({ id: 5, name: "other", uploader: otherOwner.user.id, visibility: "private" }),
  completeDataset({ id: 6, name: "own", uploader: administrator.user.id, visibility: "private" }),
  completeDataset({ id: 9, name: "free", uploader: otherOwner.user.id }),
];

/** The number of ids beyond the highest that a scan reads here: fewer than usual. */
export const BEYOND = 10;

/** A list as a test looks at it: the ids, or the status of another answer. `text`: the body. */
export type Listed = { ids: number[] | number; isIncomplete: boolean; text: string; headers: Headers };

const headersFor = ({ key }: Caller) => (key === undefined ? {} : { "X-API-Key": key });

const read = async (answer: Response): Promise<Listed> => {
  const { status, headers } = answer;
  const text = await answer.text();
  const isIncomplete = headers.get("gateway-decision")?.endsWith("; private=incomplete") === true;
  const ids = status === 200 ? (JSON.parse(text) as { did: number }[]).map(({ did }) => did) : status;
  return { ids, isIncomplete, text, headers };
};

/** A gateway that listens and has begun to scan, over a legacy whose rows a test changes. */
export const scanningThrough = async (
  over: readonly DatasetRow[] | Bed = rows,
  environment: Record<string, string> = {},
  { scan, ...parts }: GatewayParts & PrivateDatasetsParts = {},
) => {
  const bed = "url" in over ? over : await openBed();
  if (!("url" in over)) {
    onTestFinished(() => bed.close());
    bed.use(over);
  }
  const gateway = await listeningGateway(
    bed.url,
    { LEGACY_ADMIN_KEY: secondAdministrator.key, ...environment },
    { ...parts, scan: { margin: BEYOND, ...scan } },
  );
  const privateRows = gateway.features.privateDatasets?.privateRows;
  await privateRows?.start();
  return {
    ...gateway,
    bed,
    state: () => privateRows?.state(),
    scanned: () => until(() => privateRows?.state().state === "complete"),
    /** Lists by a path, which the front may answer from its cache. */
    list: async (caller: Caller, filters = "status/all"): Promise<Listed> =>
      read(await fetch(`${gateway.url}/v1/data/list/${filters}`, { headers: headersFor(caller) })),
    post: async (caller: Caller, input: object): Promise<Listed> =>
      read(
        await fetch(`${gateway.url}/v1/datasets/list`, {
          method: "POST",
          headers: { ...headersFor(caller), "Content-Type": "application/json" },
          body: JSON.stringify(input),
        }),
      ),
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

/** The form of an edit of a dataset. */
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
    ...bed,
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
    /** The legacy behind it, which a test asks past the front. */
    legacyUrl: bed.url,
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
