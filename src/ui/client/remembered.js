/* What outlives a reload: the operator's name in this browser, the token in this tab. A browser without storage keeps both while the page is open. */
const inPage = new Map();

const openStorage = (kind) => {
  try {
    return globalThis[kind];
  } catch {
    return undefined;
  }
};

const remembering = (kind, key) => ({
  get: () => openStorage(kind)?.getItem(key) ?? inPage.get(key) ?? "",
  set: (text) => {
    inPage.set(key, text);
    try {
      openStorage(kind)?.setItem(key, text);
    } catch {
      // Full, or forbidden.
    }
  },
  forget: () => {
    inPage.delete(key);
    openStorage(kind)?.removeItem(key);
  },
});

/** The name that the operator gave last, in this browser. */
export const operatorName = remembering("localStorage", "operator");
/** The token of the operators, in this tab. */
export const adminToken = remembering("sessionStorage", "admin-token");
