import { createHash } from "node:crypto";
import { get } from "node:http";

/** An answer as it was received; `flat`: its raw headers, names and values alternating. */
type FetchedAnswer = { status: number; headers: NodeJS.Dict<string | string[]>; flat: string[]; bytes: Buffer };

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Sends a request with only these headers on its own connection. `fetch` would add headers and decode the body. */
export const ask = (url: string, headers: Record<string, string> = {}): Promise<FetchedAnswer> =>
  new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          flat: response.rawHeaders,
          bytes: Buffer.concat(chunks),
        }),
      );
    }).once("error", reject);
  });

/**
 * Repeats a request until a server answers it.
 *
 * @throws After a hundred attempts.
 */
export const askUntilAnswered = async (url: string): Promise<FetchedAnswer> => {
  for (let tries = 0; ; tries++)
    try {
      return await ask(url);
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => void setTimeout(resolve, 50));
    }
};
