import { type AddressInfo, type Socket, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { type Message, MessageReader } from "../lib/messageReader.ts";
import { openRandom, type Random, scrambled } from "../lib/random.ts";
import { echoBody, echoRequestOf } from "./echo.ts";
import { type SoundAnswer, contentFaults, faults, pickFault, pickOddFields } from "./faults.ts";
import { legacyAnswer } from "./legacy.ts";

/** A legacy server that answers by the model and, while `isFaulty`, is wrong in every way it can be. */
export type FuzzedUpstream = {
  url: string;
  requests(): number;
  sockets(): number;
  /** From now on it is sound; connections are closed, so that no fault lingers. */
  becomeSound(): void;
  close(): void;
};

/** Observes each request that arrives. */
type UpstreamObserver = {
  /** A request that carries a nonce arrived. */
  arrived: (nonce: string) => void;
  /** A request of legacy's interface is answered with a content that is not the sound one. */
  damaged: (target: string, body: Buffer) => void;
  /** Reports a request that should never have been sent, and why. */
  unclean: (why: string, request: string) => void;
};

/** The share of the answers to the new interface's requests that are wrong. */
const FAULTY_SHARE = 0.2;

export const openFuzzedUpstream = async (seed: number, observer: UpstreamObserver): Promise<FuzzedUpstream> => {
  const attempts = new Map<string, number>();
  const sockets = new Set<Socket>();
  let isFaulty = true;
  let requests = 0;

  const answerFor = ({ start, body }: Message): { sound: SoundAnswer; fault: string; about: string } => {
    const [method = "", target = ""] = start.split(" ");
    const isHead = method === "HEAD";
    const echo = echoRequestOf(target);
    if (echo !== undefined) {
      observer.arrived(echo.nonce);
      const whole = echoBody(method, target, echo, body);
      const sound = { status: 200, type: "text/plain", body: isHead ? Buffer.alloc(0) : whole, length: whole.length };
      return { sound, fault: echo.fault, about: echo.nonce };
    }
    const form = body.toString("latin1");
    const { status, type, body: text } = legacyAnswer(method, target, form);
    const tag = /(?:^|&)tag=(\w+)/.exec(form)?.[1];
    if (tag !== undefined) observer.arrived(tag);
    const bytes = Buffer.from(text);
    const sound = { status, type, body: isHead ? Buffer.alloc(0) : bytes, length: bytes.length };
    // The same request goes wrong in another way, or not at all, when it is made again.
    const asked = `${method} ${target.replace(/api_key=\w+/, "")}`;
    const attempt = (attempts.get(asked) ?? 0) + 1;
    attempts.set(asked, attempt);
    return { sound, fault: "fuzzed", about: `${asked} ${attempt}` };
  };

  const answer = (socket: Socket, message: Message): void => {
    requests++;
    const why = uncleanness(message);
    if (why !== undefined) observer.unclean(why, `${message.start}${message.fields}`);
    const { sound, fault, about } = answerFor(message);
    const random = openRandom(seed, scrambled(about));
    if (!isFaulty) return faults["none"]?.answer(socket, sound, random);
    if (fault !== "fuzzed") return faults[fault]?.answer(socket, sound, random);
    if (random.chance(FAULTY_SHARE / 2)) {
      const damaged = contentFaults[random.pick(Object.keys(contentFaults))]?.(sound, random) ?? sound;
      observer.damaged(message.start.split(" ")[1] ?? "", damaged.body);
      return faults["none"]?.answer(socket, asPhpSends(damaged, message, random), random);
    }
    return faults[pickFault(random, FAULTY_SHARE / 2)]?.answer(socket, asPhpSends(sound, message, random), random);
  };

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const reader = new MessageReader({
      hasNoBody: () => false,
      withoutLength: "none",
      onMessage(message) {
        if (message.whole) answer(socket, message);
      },
      onBroken(why) {
        observer.unclean(why, "");
        socket.destroy();
      },
    });
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", 4096, resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    sockets: () => sockets.size,
    becomeSound() {
      isFaulty = false;
      cut();
    },
    close() {
      cut();
      server.close();
    },
  };
};

/** With a session for each client, and zipped for clients that accept it; some of the other headers are odd. */
const asPhpSends = (answer: SoundAnswer, { fields }: Message, random: Random): SoundAnswer => {
  const sent = ["Set-Cookie: ci_session=secret; path=/", ...(random.chance(0.1) ? pickOddFields(random) : [])];
  if (answer.body.length === 0 || !/\r\naccept-encoding:[^\r]*\bgzip/i.test(fields)) return { ...answer, fields: sent };
  const body = gzipSync(answer.body);
  return { ...answer, body, length: body.length, fields: [...sent, "Content-Encoding: gzip"] };
};

/** The reason that a request must not have been sent, or `undefined`. */
const uncleanness = ({ start, fields }: Message): string | undefined => {
  if (!/^[A-Z-]+ \/[\x21-\x7e\x80-\xff]* HTTP\/1\.1$/.test(start)) return "a malformed request line";
  const linesOf = (name: string) => fields.match(new RegExp(`\r\n${name}:`, "gi"))?.length ?? 0;
  if (linesOf("host") !== 1) return `${linesOf("host")} Host lines`;
  if (linesOf("content-length") > 1) return "two lengths";
  if (!/\r\n(?:via|user-agent): [^\r]*catalog-gateway/i.test(fields)) return "a request that the gateway did not make";
  if (linesOf("via") > 1 || linesOf("x-request-id") > 1) return "headers that are not the gateway's";
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\0\v\f]|\r(?!\n)|[^\r]\n/.test(fields)) return "a control character in a header";
  return undefined;
};
