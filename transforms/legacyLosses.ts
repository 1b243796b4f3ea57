// The reasons for losses of old clients at several endpoints.

export const formatCase =
  "The new interface has formats in lower case: only `ARFF` and `Sparse_ARFF` are written back.";

export const noNumber = "The new interface has no value, or no entry, for `NaN` and infinite numbers.";

export const emptyValues = "The new interface does not keep empty values.";

export const splitNames =
  "The new interface splits texts at commas, and keeps neither quotes, blanks nor empty entries.";

export const repeats = "Legacy lists a parameter once for each tag of its setup; ours is listed once.";

/** The same reason for the loss of each of these members of an element. */
export const lossesIn = (element: string, members: readonly string[], reason: string): Record<string, string> =>
  Object.fromEntries(members.map((name) => [`${element}/${name}`, reason]));
