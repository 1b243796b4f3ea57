import type { EventDefinitions } from "../../src/operation/index.ts";

export const storeEvents: EventDefinitions = {
  store_hangs: {
    level: "error",
    msg: "The disk of DATA_DIR does not answer.",
    notes:
      "The start, or `--check`, has waited for `directory` for five seconds. It goes on when the disk answers. After a minute the start is refused, with exit code 1.",
  },
  store_lost: {
    level: "error",
    msg: "What is set or found cannot be stored.",
    notes:
      "Redis or the disk of `DATA_DIR` does not do what it is asked, or not in time; `why` says more. The gateway goes on with what it knows, refuses moves of stages, and stores the rest when it can. `store_up` ends it.",
  },
  store_up: { level: "info", msg: "What is set or found is stored again." },
  store_emptied: {
    level: "warn",
    msg: "Redis has lost what was stored.",
    notes:
      "It was flushed or replaced. It is not filled again: what `feature` had stored starts from nothing (`stages`: see `stages_lost`).",
  },
  redis_key_set_aside: {
    level: "warn",
    msg: "A key in Redis had another type than the gateway's, and was renamed.",
    notes:
      "Another program has written it. `key` is its name, now with `:set-aside` behind it. The gateway goes on as if there had been nothing.",
  },
  store_unreadable: {
    level: "error",
    msg: "A stored value cannot be read.",
    notes:
      "It is dropped, or what was read before holds; a private dataset is read from legacy again. `feature` and `keys` name it, `why` says what is wrong with it.",
  },
};
