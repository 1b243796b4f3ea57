import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { httpUpstream, openGateway, originOf } from "./support.ts";

const size = 20 * 1024 * 1024;
const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test.each([{ framing: "a length" }, { framing: "chunks" }])(
  "20 MB go up and come down with $framing",
  async ({ framing }) => {
    const chunked = framing === "chunks";
    const up = randomBytes(size);
    const down = randomBytes(size);
    let got = "";
    const origin = await httpUpstream((req, res) => {
      const sum = createHash("sha256");
      req.on("data", (chunk: Buffer) => sum.update(chunk));
      req.on("end", () => {
        got = `${req.headers["content-length"] ?? "chunked"} ${sum.digest("hex")}`;
        if (!chunked) res.setHeader("content-length", size);
        for (let at = 0; at < size; at += 100_000) res.write(down.subarray(at, at + 100_000));
        res.end();
      });
    });
    const { port, events } = await openGateway(origin);
    const answer = await fetch(`${originOf(port)}/large`, {
      method: "PUT",
      body: chunked ? new Blob([up]).stream() : up,
      headers: { connection: "close" },
      ...(chunked ? { duplex: "half" } : {}),
    });
    expect(hash(new Uint8Array(await answer.arrayBuffer()))).toBe(hash(down));
    expect(got).toBe(`${chunked ? "chunked" : size} ${hash(up)}`);
    expect(answer.headers.get("content-length")).toBe(chunked ? null : String(size));
    expect(events).toEqual([]);
  },
);
