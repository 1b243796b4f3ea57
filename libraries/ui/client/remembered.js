/*
 * Values that outlive a reload: the operator's name in this browser, the token in this tab. A browser without storage
 * keeps both while the page is open.
 */
const remembering = (kind, key) => {
  let inPage = "";
  const inStorage = (action) => {
    try {
      return action(globalThis[kind]);
    } catch {
      return undefined;
    }
  };
  return {
    get: () => inStorage((storage) => storage.getItem(key)) ?? inPage,
    set: (text) => {
      inPage = text;
      inStorage((storage) => storage.setItem(key, text));
    },
    forget: () => {
      inPage = "";
      inStorage((storage) => storage.removeItem(key));
    },
  };
};

/** The name that the operator gave last, in this browser. */
export const operatorName = remembering("localStorage", "operator");
/** The token of the operators, in this tab. */
export const adminToken = remembering("sessionStorage", "admin-token");
