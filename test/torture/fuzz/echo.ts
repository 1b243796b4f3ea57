import { crc32 } from "node:zlib";
import { scrambled } from "../lib/random.ts";

/**
 * The answer that a proxied request asks for: the oracle can tell from it which request it answers, and whether the
 * request arrived untouched. `fault` names what the upstream does wrong.
 */
export type EchoRequest = { nonce: string; fault: string; size: number };

export const echoQuery = ({ nonce, fault, size }: EchoRequest): string => `echo=${nonce}&fault=${fault}&size=${size}`;

export const echoRequestOf = (target: string): EchoRequest | undefined => {
  const found = /[?&]echo=(\w+)&fault=(\w+)&size=(\d+)/.exec(target);
  return found ? { nonce: found[1] as string, fault: found[2] as string, size: Number(found[3]) } : undefined;
};

const FILLER = Buffer.from(Array.from({ length: 1 << 20 }, (_, index) => 97 + (scrambled(`${index >> 2}`) % 26)));
/** The longest body that an echo may ask for, in bytes. */
export const MAX_ECHO = 300_000;

/**
 * The answer's body: a line with the nonce and checksums of what arrived, then `size` bytes that the nonce determines.
 */
export const echoBody = (method: string, target: string, { nonce, size }: EchoRequest, body: Buffer): Buffer => {
  const from = scrambled(nonce) % (FILLER.length - MAX_ECHO);
  const line = `${nonce} ${method} ${crc32(target)} ${body.length} ${crc32(body)}\n`;
  return Buffer.concat([Buffer.from(line, "latin1"), FILLER.subarray(from, from + size)]);
};
