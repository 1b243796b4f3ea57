import { UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";
import type { Probed } from "../../../src/gateway/upstream/legacyHealth.ts";

/** A read of legacy, and what a probe comes to. */
export const line = { method: "GET", path: "/api/v1/json/data/61" };
export const own: Probed = { status: 200, judgement: "own" };
export const page: Probed = { status: 502, judgement: "ill" };
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
export const unconnected = new UpstreamFailure("unreachable", line, refused);
