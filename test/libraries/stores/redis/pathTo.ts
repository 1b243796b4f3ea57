import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

type Pair = { near: Socket; far: Socket; isListener: boolean; isFrozen: boolean; isMute: boolean };

/** The way to a Redis, that can break in each of the ways a network has. */
export const pathTo = async (url: string) => {
  const pairs = new Set<Pair>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    const pair: Pair = { near, far, isListener: false, isFrozen: false, isMute: false };
    pairs.add(pair);
    near.on("data", (chunk) => {
      pair.isListener ||= chunk.includes("subscribe");
      if (!pair.isFrozen) far.write(chunk);
    });
    far.on("data", (chunk) => pair.isFrozen || pair.isMute || near.write(chunk));
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const)
      end
        .on("error", () => undefined)
        .on("close", () => {
          pairs.delete(pair);
          other.destroy();
        });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const cut = () => {
    isCut = true;
    for (const { near } of pairs) near.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Connections break, and none can be made. */
    cut,
    mend: () => (isCut = false),
    /** The open connections silently carry nothing any more, or no answers; new connections work. */
    freeze(which: "all" | "listeners" | "answers") {
      for (const pair of pairs)
        if (which === "answers") pair.isMute = true;
        else pair.isFrozen ||= which === "all" || pair.isListener;
    },
  };
};
