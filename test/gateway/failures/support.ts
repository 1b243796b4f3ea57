import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { send } from "../../../tools/sampleLegacy/answers.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { openSample } from "../../../tools/sampleLegacy/openSample.ts";
import { outageForms } from "../../../tools/sampleLegacy/outages.ts";
import { isProbeOfLegacy } from "../http/support.ts";

/** The sample legacy with these public datasets. It fails in the form that a test sets. */
export const failingLegacy = async (ids: readonly number[]) => {
  const answer = openSample({ datasets: ids.map((id) => completeDataset({ id, name: `dataset ${id}` })) });
  const unanswered: ServerResponse[] = [];
  const fail = (form: string, request: IncomingMessage, response: ServerResponse): void => {
    if (form === "dropped") return void request.socket.destroy();
    const failure = outageForms[form]?.answer?.(request.url ?? "/");
    if (failure) send(response, failure);
    else unanswered.push(response);
  };
  const server = createServer((request, response) => {
    const isProbe = isProbeOfLegacy(request);
    if (isProbe) legacy.probes++;
    else legacy.asked.push(`${request.method} ${request.url}`);
    if (legacy.form !== undefined && !(isProbe && legacy.isProbeWell)) fail(legacy.form, request, response);
    else void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const legacy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /**
     * The form in which every answer fails: a form of the sample's outages, or `dropped`, a connection that is closed
     * without an answer. `undefined`: legacy is well.
     */
    form: undefined as string | undefined,
    /** While true, legacy answers the gateway's probe well in any form. */
    isProbeWell: false,
    /** The requests without the gateway's probes: `GET /api/v1/json/data/1`; and the number of these. */
    asked: [] as string[],
    probes: 0,
    /** Legacy is well again. Requests that wait for their answers get none: a GET is sent once more. */
    recover(): void {
      legacy.form = undefined;
      for (const response of unanswered.splice(0)) response.destroy();
    },
    /** From now on legacy accepts no connection. */
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  onTestFinished(() => legacy.close());
  return legacy;
};
