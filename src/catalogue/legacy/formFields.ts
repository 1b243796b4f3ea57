/** The values of some fields of a request, in their order, as PHP reads them. */
type FormFields = {
  values: { name: string; value: string }[];
  /** False if there may be more values than these: too many fields, or a name too long to be read. */
  isWhole: boolean;
};

/** The most fields that are read, as in PHP, which ignores the others (max_input_vars). */
export const MAX_FIELDS = 1000;
/** Characters of a name and of a value that are read. */
const MAX_NAME = 300;
const MAX_VALUE = 80;

/** `%5F` -> `_`, `+` -> a blank; text that is not an escape stays. */
const decoded = (text: string): string =>
  text
    .replaceAll("+", " ")
    .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

/** PHP reads blanks, dots and an open bracket within a name as `_`. */
const spelled = (names: readonly string[]): string => names.map((name) => name.replaceAll("_", "[_. []")).join("|");
const plain = (name: string): string => name.toLowerCase().replaceAll(/[. []/g, "_");

/** Reads the fields of these names, in any case. Takes time in proportion to the length of any text. */
export const fieldReader = (names: readonly string[]) => {
  const alternatives = spelled(names);
  // PHP ends a name at a bracket or a NUL.
  const wanted = new RegExp(String.raw`^ *(${alternatives})(?:[[\0]|$)`, "i");
  const part = new RegExp(
    String.raw`name=["']? *(${alternatives})(?=["'[\0;\s])[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n([^\r\n]{0,${MAX_VALUE}})`,
    "iy",
  );
  const element = new RegExp(String.raw`<(?:\w{1,20}:)?(${alternatives})>([^<]{0,${MAX_VALUE}})<`, "gi");

  return {
    /** In a query or a urlencoded form. */
    inForm(this: void, text: string): FormFields {
      const values: FormFields["values"] = [];
      let isWhole = true;
      for (let start = 0, count = 0; start < text.length; count++) {
        if (count === MAX_FIELDS) return { values, isWhole: false };
        const next = text.indexOf("&", start);
        const end = next === -1 ? text.length : next;
        const field = text.slice(start, Math.min(end, start + MAX_NAME + 3 * MAX_VALUE));
        const equals = field.indexOf("=");
        if (equals === -1 && start + field.length < end) isWhole = false;
        const [, name] = wanted.exec(decoded(equals === -1 ? field : field.slice(0, equals))) ?? [];
        if (name !== undefined)
          values.push({ name: plain(name), value: equals === -1 ? "" : decoded(field.slice(equals + 1)) });
        start = end + 1;
      }
      return { values, isWhole };
    },
    /** In the beginning of a multipart form. */
    inParts(this: void, text: string): FormFields {
      const values: FormFields["values"] = [];
      const lower = text.toLowerCase();
      let count = 0;
      for (let at = lower.indexOf("name="); at !== -1; at = lower.indexOf("name=", at + 1)) {
        if (count++ === MAX_FIELDS) return { values, isWhole: false };
        part.lastIndex = at;
        const [, name, value = ""] = part.exec(text) ?? [];
        if (name !== undefined) values.push({ name: plain(name), value });
      }
      return { values, isWhole: true };
    },
    /** In elements of XML. */
    inXml(this: void, text: string): FormFields {
      const values: FormFields["values"] = [];
      for (const [, name = "", value = ""] of text.matchAll(element)) {
        if (values.length === MAX_FIELDS) return { values, isWhole: false };
        values.push({ name: plain(name), value });
      }
      return { values, isWhole: true };
    },
  };
};

const reader = fieldReader(["api_key"]);

const lastOf = (values: { value: string }[]): string | undefined => values.at(-1)?.value;

/**
 * The key of a request to legacy's interface, as legacy reads it: from the query, else from the body's form; of several
 * keys the last. `body`: its beginning. `undefined`: it has no key; an empty key and `0` do not count.
 */
export const legacyKeyOf = (query: string, contentType: string | undefined, body: string): string | undefined => {
  if (query === "" && body === "") return undefined;
  const key = (lastOf(reader.inForm(query).values) ?? keyInBody(contentType ?? "", body))?.trim();
  return key === "" || key === "0" ? undefined : key;
};

const keyInBody = (contentType: string, body: string): string | undefined => {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return lastOf(reader.inForm(body).values);
  return /^multipart\/form-data\b/i.test(contentType) ? lastOf(reader.inParts(body).values) : undefined;
};

/** All keys in a query or a urlencoded form, as legacy would read them. */
export const keysInForm = (form: string): string[] =>
  reader.inForm(form).values.flatMap(({ value }) => (value === "" ? [] : [value]));
