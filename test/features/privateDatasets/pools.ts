/** Values in rows and in filters of lists: few, so that they match often. */
export const pools = {
  highestId: 60,
  storedNames: ["iris", "Iris", "ÌRÍS", "adult", "Ådult", "strase", "Straße", "Søren", "2019", "a.b, (c)"],
  namesWithQuotes: ['the "x" of y'],
  matchingNames: ["iris", "IRIS", "iris  ", "adult", "ADULT ", "strase", "STRASE"],
  otherNames: ["strasse", "soren", "2019", "A.B, (C) ", "nosuch", " iris"],
  storedTags: ["demo", "Demo", "DEMO", "démo", "study_14", "Study_14", "2019"],
  matchingTags: ["demo", "DEMO", "study_14", "STUDY_14"],
  otherTags: ["2019", "nosuch"],
  instances: [50, 100, 150],
  features: [4, 5, 785],
  classes: [0, 2, 3],
  missing: [0, 5, 70],
};
