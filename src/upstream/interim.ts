/** Answers with a status below 200 at most, before the one that counts; an upstream that sends more gets no place to go on. */
export const MAX_INTERIM_ANSWERS = 20;
