import { expect } from "chai";
import type { ManualSynthesis } from "../http/websocket/manual-streaming.ts";
import type { RawClient } from "./raw-client.ts";
import type { TestWyomingServer } from "./test-server.ts";

/** 100 ms of audio. */
export const samples = Buffer.alloc(4_800, 1);

export const expectEvent = async (client: RawClient, type: string, data: object = {}): Promise<void> => {
  const event = await client.next();
  expect(event?.type, JSON.stringify(event)).to.equal(type);
  expect(event?.data).to.deep.include(data);
};

/** The connection ends with this error. */
export const expectError = async (client: RawClient, code: string, text: RegExp): Promise<void> => {
  const event = await client.next();
  expect(event).to.deep.include({ type: "error" });
  expect(event?.data).to.include({ code });
  expect(event?.data.text).to.match(text);
  expect(await client.next()).to.equal(undefined);
};

/** Starts the next synthesis, which must be of this text. */
export const nextSynthesis = async (
  { streaming }: TestWyomingServer,
  text: string,
): Promise<ManualSynthesis> => {
  const synthesis = await streaming.next();
  expect(synthesis.plan.renditions[0].recipe.text).to.equal(text);
  synthesis.start();
  return synthesis;
};

/** Speaks the next piece with one chunk of audio. */
export const speakNext = async (served: TestWyomingServer, text: string): Promise<void> => {
  const synthesis = await nextSynthesis(served, text);
  void synthesis.push(samples);
  synthesis.end();
};
