import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Field } from "../endpoint/field.ts";
import { type XmlReader, xmlReader } from "../legacy/xml.ts";
import { markupPaths } from "../rules/markup.ts";
import { servingNote } from "../rules/notes.ts";
import type { Note } from "../rules/rule.ts";
import type { Observer } from "../observe.ts";

/** An endpoint with what is made of it once, at the start. */
export type Prepared = Endpoint & {
  name: string;
  fields: Record<string, Field<unknown>>;
  readXml: XmlReader;
  hasMarkup: boolean;
  note: Note;
};

export const prepare = (endpoints: Record<string, Endpoint>, observer: Observer): Prepared[] =>
  Object.entries(endpoints).map(([name, endpoint]) => {
    const markup = markupPaths(endpoint.output);
    return {
      ...endpoint,
      name,
      fields: endpoint.input,
      readXml: xmlReader(markup),
      hasMarkup: markup.length > 0,
      note: servingNote((field) => observer.event("unknown_field", { endpoint: name, field })),
    };
  });
