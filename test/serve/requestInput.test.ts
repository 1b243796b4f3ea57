import { expect, test } from "vitest";
import { fromNode } from "../../src/serve/requestInput.ts";
import { httpUpstream } from "../proxy/support.ts";
import { until } from "../support/waiting.ts";
import { openConnection } from "./support.ts";

test("a client that had left before anybody asked is noticed", async () => {
  let leaving: (() => AbortSignal) | undefined;
  let isClosed = false;
  const url = await httpUpstream((incoming, outgoing) => {
    ({ leaving } = fromNode(incoming, outgoing));
    outgoing.once("close", () => (isClosed = true));
  });
  const client = openConnection(Number(new URL(url).port));
  client.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => leaving !== undefined);
  client.socket.destroy();
  await until(() => isClosed);
  expect(leaving?.().aborted).toBe(true);
});
