import { isDeepStrictEqual } from "node:util";
import type { Endpoint } from "../src/endpoint/endpoint.ts";
import { transform } from "../src/endpoint/transform.ts";
import { readLegacy } from "../src/legacy/reading.ts";
import { xmlReader } from "../src/legacy/xml.ts";
import { servingNote } from "../src/rules/notes.ts";
import { getDataset } from "../transforms/getDataset.ts";
import { listDatasets } from "../transforms/listDatasets.ts";
import { datasetBody, listBody } from "./bodies.ts";
import { mapDataset, mapList } from "./peers/handWritten.ts";
import type { BenchOptions } from "./race.ts";
import { shuffled, spread } from "./statistics.ts";

type Work = (body: Buffer) => Buffer;

/** The whole work for one answer, from bytes to bytes: parsed, transformed, validated, written. */
const served = (endpoint: Endpoint): Work => {
  const readXml = xmlReader([]);
  const note = servingNote(() => undefined);
  return (body) => {
    const reading = readLegacy(body, readXml);
    const transformed =
      reading.is === "document"
        ? transform(endpoint.output, reading.document, note)
        : { ok: false as const, mismatch: [] };
    if (!transformed.ok) throw new Error("the body was not transformed");
    return Buffer.from(JSON.stringify(transformed.ours));
  };
};

const microseconds = (work: Work, body: Buffer, times: number): number => {
  const started = process.hrtime.bigint();
  for (let i = 0; i < times; i++) work(body);
  return Number(process.hrtime.bigint() - started) / 1000 / times;
};

/** Compares the whole transform with a mapper that was written by hand for one shape and does not validate. */
export const benchTransform = ({ rounds }: BenchOptions): void => {
  const cases = [
    { name: "dataset", body: datasetBody(), endpoint: getDataset, peer: mapDataset, times: 20_000, aim: "7 us" },
    { name: "list", body: listBody(), endpoint: listDatasets, peer: mapList, times: 200, aim: "1400 us" },
  ];
  for (const { name, body, endpoint, peer, times, aim } of cases) {
    const ours = served(endpoint);
    const theirs: Work = (bytes) => Buffer.from(JSON.stringify(peer(JSON.parse(bytes.toString("utf8")))));
    if (!isDeepStrictEqual(JSON.parse(ours(body).toString()), JSON.parse(theirs(body).toString())))
      throw new Error(`${name}: the two answers differ`);
    for (const work of [ours, theirs]) microseconds(work, body, times);
    const took = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++)
      for (const which of shuffled(["ours", "theirs"] as const))
        took[which].push(microseconds(which === "ours" ? ours : theirs, body, times));
    const ratios = took.ours.map((value, i) => value / (took.theirs[i] as number));
    console.log(
      `transform of a ${name}, ${(body.length / 1000).toFixed(1)} KB: ${spread(took.ours)} us (aim: ${aim} at most); by hand ${spread(took.theirs)} us; ratio ${spread(ratios)}`,
    );
  }
};
