import { makeSound } from "./made-sound.ts";
import { json, serveWire, type WireServer } from "./wire-server.ts";

const megabyte = 1024 * 1024;

/**
 * An OpenAI-compatible server that responds to a text containing `<n> MB` with an MP3 of about that
 * length.
 */
export const serveLongSounds = async (): Promise<WireServer> => {
  const format = { kind: "mp3", sampleRate: 24_000, kbitPerSecond: 64 } as const;
  const sentence = await makeSound({ text: "On and on it goes.", voice: "gmw/en-US+f3", format });
  const response = { status: 200, headers: { "Content-Type": "audio/mpeg" } };
  const empty = { ...response, body: Buffer.alloc(0) };
  return await serveWire(
    {
      response: async ({ method, body }) => {
        if (method !== "POST") return json(200, { object: "list", data: [] });
        const [, megabytes = "0"] = /(\d+) MB/.exec(body.toString()) ?? [];
        const times = Math.ceil((Number(megabytes) * megabyte) / sentence.length) || 1;
        return { ...response, body: Buffer.concat(Array.from({ length: times }, () => sentence)) };
      },
      refusal: (status) => ({ status, headers: {}, body: Buffer.alloc(0) }),
      empty,
      malformed: empty,
    },
    { chunkBytes: 64 * 1024 },
  );
};
