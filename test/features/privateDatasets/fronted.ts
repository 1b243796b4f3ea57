import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { DatasetRow } from "../../../src/tools/sampleLegacy/catalogueRows.ts";
import { httpUpstream } from "../../proxy/support.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { openBed } from "./bed.ts";
import type { Caller } from "./people.ts";
import { rows, through } from "./through.ts";

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

/** A gateway over it. */
export const over = async (
  front: Awaited<ReturnType<typeof fronted>>,
  environment: Record<string, string> = {},
  parts: GatewayParts = {},
) => through({ ...front.bed, url: front.url }, environment, parts);
