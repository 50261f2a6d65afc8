import type { DeletedAudio } from "../application/audio/delete-audio.ts";
import { operator, printing, type Register, writing } from "./command.ts";

export const registerAudioCommands: Register = (program, withServices) => {
  const audio = program.command("audio").description("manage stored audio");

  audio
    .command("delete <hash>")
    .description(
      "delete audio and what belongs to it; the same request makes free audio again, and buys audio of a website's own provider again",
    )
    .action(
      printing(deletedText, (hash: string) =>
        withServices(({ deleteAudio }) => deleteAudio(hash, operator), writing),
      ),
    );
};

const deletedText = ({ hash, objects, purged }: DeletedAudio): string => {
  const found = objects.length === 0 ? `${hash} was not in the store.` : `Deleted ${objects.join(", ")}.`;
  return `${found} ${purged ? "The CDN was purged." : "No CDN is configured (PURGE_URL)."}`;
};
