/** What rows hold and lists are asked for: few values, so that they meet. */
export const pools = {
  highestId: 60,
  storedNames: ["iris", "Iris", "ÌRÍS", "adult", "Ådult", "strase", "Straße", "Søren", "2019", "a.b, (c)"],
  namesWithQuotes: ['R&D "x" <y>'],
  namesWithBlanks: ["iris ", "Adult   "],
  askedNames: ["iris", "IRIS", "iris  ", "Adult", "STRASE", "strasse", "soren", "2019", "A.B, (C) ", "nosuch", " iris"],
  storedTags: ["demo", "Demo", "DEMO", "démo", "study_14", "Study_14", "2019"],
  askedTags: ["demo", "DEMO", "study_14", "STUDY_14", "2019", "nosuch"],
  instances: [10, 50, 100, 150, 1000],
  features: [4, 5, 10, 785],
  classes: [0, 2, 3],
  missing: [0, 5, 70],
};
