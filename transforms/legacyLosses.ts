// Reasons for losses of old clients that several endpoints have.

/** Of texts that legacy does not escape in its XML. */
export const bareSigns = "Legacy writes `&` and `<` into its XML as they are, which breaks it; ours are escaped.";

export const formatCase =
  "The new interface has formats in lower case: only `ARFF` and `Sparse_ARFF` are written back.";

export const noNumber = "The new interface leaves out qualities without a finite number, such as `NaN`.";

export const emptyValues = "The new interface does not keep empty values.";

export const repeats = "Legacy lists a parameter once for each tag of its setup; ours is listed once.";
