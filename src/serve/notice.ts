/** Something that operators may want to be told of while they do not look: its type such as `stage.moved`, when (ISO 8601), and facts without secrets. */
export type Notice = { type: string; at: string } & Record<string, unknown>;
