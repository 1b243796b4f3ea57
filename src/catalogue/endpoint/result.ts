/** The result of a function that may fail in an expected way. A test of `ok` narrows the type. */
export type Result<Success extends object, Failure extends object> =
  | ({ ok: true } & Success)
  | ({ ok: false } & Failure);
