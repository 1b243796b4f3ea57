/** What something gave that may fail in an expected way: test `ok`, and the compiler knows the rest. */
export type Result<Success extends object, Failure extends object> =
  | ({ ok: true } & Success)
  | ({ ok: false } & Failure);
