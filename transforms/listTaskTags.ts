import { tagsInUse } from "./tagsInUse.ts";

export const listTaskTags = tagsInUse("GET /task/tag/list", "task", ["GET /tasks/tag/list"]);
