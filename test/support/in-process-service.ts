import { createHmac } from "node:crypto";
import { request } from "node:http";
import type { Logger } from "pino";
import type { Machine } from "../../src/bootstrap/clock/service-clock.ts";
import { deriveKey } from "../../src/bootstrap/master-key.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService } from "../../src/bootstrap/service.ts";
import { errorMessage } from "../../src/domain/errors.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { superviseHostProcess } from "../../src/subprocess/supervisor.ts";
import { testSettings } from "./instance.ts";
import { rejection } from "./rejection.ts";
import { adminToken, temporaryFolder } from "./service.ts";
import { shareHelper } from "./tool-host.ts";

/**
 * A clock that the test advances. `set`: by how many milliseconds it was set, without time passing.
 */
export interface TestTime {
  now: number;
  set?: number;
}

/** A machine with that clock. */
export const machineAt = (time: TestTime): Machine => {
  const uptime = (): number => time.now - (time.set ?? 0);
  return { clock: () => time.now, uptime };
};

/** The whole service in this process, with a clock that the test advances. */
export interface InProcessService {
  readonly url: string;
  /** Undefined unless the settings have WYOMING_PORT. */
  readonly wyomingUrl: string | undefined;
  readonly time: TestTime;
  /** A token with any header and claims, signed with the service's own key. */
  sign(header: object, claims: object): string;
  close(): Promise<void>;
}

export const startInProcessService = async (
  env: Record<string, string> = {},
  log: Logger = createLogger("silent"),
  time: TestTime = { now: Date.parse("2026-11-05T10:00:00.000Z") },
): Promise<InProcessService> => {
  const folder = await temporaryFolder();
  const masterKey = Buffer.alloc(32, 7);
  const settings = readSettings({
    ...testSettings,
    DATA_DIR: folder.path,
    ADMIN_TOKEN: adminToken,
    VOICE_GALLERY: "off", // its samples would be spoken during a test
    MASTER_KEY: masterKey.toString("base64"),
    ...env,
  });
  // A model's process keeps the settings with which it was loaded.
  const hasModels =
    settings.models.folder !== undefined ||
    Object.keys(settings.modelPaths).length > 0 ||
    env.NATURAL_VOICES_DIR !== undefined;
  const superviseHelper = hasModels ? superviseHostProcess : shareHelper;
  const service = await composeService(settings, log, { machine: machineAt(time), superviseHelper });
  const key = deriveKey(masterKey, "access tokens");
  return {
    url: service.url,
    wyomingUrl: service.wyomingUrl,
    time,
    sign: (header, claims) => {
      const signed = `${encode(header)}.${encode(claims)}`;
      return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
    },
    close: async () => {
      await service.close();
      await folder.remove();
    },
  };
};

/** The error of a start that must fail, as the process would print it. */
export const startError = async (env: Record<string, string>): Promise<string> => {
  const start = async () => composeService(readSettings({ ...testSettings, ...env }), createLogger("silent"));
  return errorMessage(await rejection(start()));
};

/** Starts a service with the system's clock, which the pages in a browser have too. */
export const startServiceForBrowser = (
  env: Record<string, string> = {},
  log?: Logger,
): Promise<InProcessService> => startInProcessService(env, log, systemTime);

const systemTime = {
  get now() {
    return Date.now();
  },
};

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends a request with exactly these headers; `fetch` changes some. A list sends the header several
 * times.
 */
export const ask = (
  url: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string | string[]>; body?: string } = {},
): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    asking.on("error", reject);
    asking.end(body);
  });
