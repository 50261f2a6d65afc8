import { z } from "zod";
import type { DeleteAudio } from "../../../application/audio/delete-audio.ts";
import { type Operation, pathParams, resourceName } from "../../kernel/operation.ts";
import { adminOperation, ok } from "./admin-operation.ts";

const hash = resourceName(
  "The hash of the audio, as in its `ETag`.",
  "4e6ff6ac9dc1a7c7e0b1c1b6de4f2e8c1e2b7a9c3d5e0f1a2b3c4d5e6f708192",
);

/** `/admin/audio/{hash}` */
export const deleteAudioOperation = ({ deleteAudio }: { deleteAudio: DeleteAudio }): Operation =>
  adminOperation({
    method: "delete",
    path: "/admin/audio/{hash}",
    id: "deleteAudio",
    summary: "Delete audio from the store, the instances' memory and the CDN",
    description:
      "Audio of a free engine is synthesized again, with the same bytes, when it is requested again. Audio of a website's own provider is paid for again.",
    params: pathParams({ hash }),
    responses: ok(
      "The deleted objects; none if the audio was not stored.",
      z.object({
        hash: z.string(),
        objects: z.array(z.string()),
        purged: z.boolean().meta({ description: "Whether a CDN was purged; false if none is configured." }),
      }),
    ),
    errors: [503],
    handle: ({ params }, command) => deleteAudio(params.hash, command),
  });
