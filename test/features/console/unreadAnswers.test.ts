import { Hono } from "hono";
import { expect, onTestFinished, test, vi } from "vitest";
import { operatorsListener } from "../../../src/gateway/operators/app.ts";
import { startAdminServer } from "../../../src/gateway/operators/adminServer.ts";
import { LARGE, large, roomyLimits, staying, unreader } from "../../gateway/http/openServer.ts";
import { until } from "../../support/waiting.ts";

test("a client that reads nothing is cut off after the time limit", async () => {
  const LIMIT = 200;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = operatorsListener(new Hono().get("/", (c) => c.body(large)));
  let isCut = false;
  const server = await startAdminServer(
    (request, response) => {
      request.socket.once("close", () => (isCut = true));
      answer(request, response);
    },
    { host: "127.0.0.1", port: 0 },
    { ...roomyLimits, sendTimeout: LIMIT },
  );
  onTestFinished(() => server.stop());
  const socket = unreader(server.port, staying("/"));
  await until(() => {
    vi.advanceTimersByTime(2 * LIMIT);
    return isCut;
  });
  // The system's buffers are discarded as well: the connection is reset, not ended.
  const reset = new Promise((resolve) => void socket.once("close", resolve));
  socket.resume();
  await reset;
  expect(socket.bytesRead).toBeLessThan(LARGE);
});
