import { z } from "zod";

/**
 * A name of 100 characters has at most 400 bytes, each of which may take three characters of its
 * id.
 */
export const voiceId = z
  .string()
  .min(1)
  .max(1_200)
  .meta({
    description: "A voice's id in the list of voices, or any of its names.",
    examples: ["UK_English_Female"],
  });

/**
 * Clients put a voice's id into a path without encoding it, so it consists of unreserved characters
 * (RFC 3986, section 2.3). The id is the voice's name with `_` for a blank and `~XX` for other
 * bytes of its UTF-8: `UK_English_Female`.
 */
export const voiceIdOf = (name: string): string =>
  [...Buffer.from(name)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9.-]/.test(character)) return character;
      return character === " " ? "_" : `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");

/**
 * Finds the name of the requested voice. If no voice has the name of this id, the id itself counts
 * as the name, because names may look like ids (`af_heart`). `isNamed`: whether a voice has the
 * name.
 */
export const requestedVoiceName = (id: string, isNamed: (name: string) => boolean): string => {
  const name = voiceNameOf(id);
  return isNamed(name) ? name : id;
};

/** The name that has this id; the id itself if none has. */
export const voiceNameOf = (id: string): string => {
  if (!/^(?:[A-Za-z0-9._-]|~[0-9A-F]{2})+$/.test(id)) return id;
  const percentEncoded = id.replaceAll("_", "%20").replaceAll("~", "%");
  try {
    return decodeURIComponent(percentEncoded);
  } catch {
    return id; // not UTF-8
  }
};
