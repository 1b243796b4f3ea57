import { type Link, type LinkSettings, openLink } from "./link.ts";

/** The link of the moment. */
export type Connection = Omit<Link, "end"> & {
  /** A new link in place of one that may hang for ever: where a packet is lost for good, neither end is told. */
  renew(): void;
  close(): Promise<void>;
};

export const connectRedis = (settings: LinkSettings): Connection => {
  let link = openLink(settings);
  return {
    run: (script, keys, args) => link.run(script, keys, args),
    publish: (channel, message) => link.publish(channel, message),
    isListening: () => link.isListening(),
    renew() {
      link.end();
      link = openLink(settings);
    },
    close() {
      link.end();
      return Promise.resolve();
    },
  };
};
