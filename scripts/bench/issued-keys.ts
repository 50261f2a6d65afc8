import { hashSecret } from "../../src/application/access/secrets.ts";
import { keyStream } from "../../src/domain/accounts/key.ts";
import { websiteStream } from "../../src/domain/accounts/website.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { authorize } from "../../test/support/client.ts";

const websiteId = `web_${"0".repeat(24)}`;
/** The highest limit that a plan allows. */
export const requestsPerMinute = 1_000_000;
const plan = { tier: "enterprise", requestsPerMinute, monthlyCharacters: null };
const appendsAtOnce = 256;

/** Writes this many keys of one website to the log, as the service does. */
export const issueKeys = async (store: EventStore, keys: number): Promise<void> => {
  const at = new Date().toISOString();
  const website = { websiteId, name: "a website", origins: [], at };
  await store.append(websiteStream(websiteId), [eventOf("WebsiteRegistered", website)], "none");
  for (let first = 1; first <= keys; first += appendsAtOnce) {
    const length = Math.min(appendsAtOnce, keys - first + 1);
    await Promise.all(Array.from({ length }, (_, index) => issueKey(store, first + index, at)));
  }
};

const issueKey = async (store: EventStore, n: number, at: string): Promise<void> => {
  const [apiKey, apiSecret] = credentialsOf(n);
  const secret = { secretId: "sec_1", hash: hashSecret(apiSecret), at };
  const issued = eventOf("KeyIssued", { apiKey, websiteId, plan, at });
  await store.append(keyStream(apiKey), [issued, eventOf("SecretCreated", secret)], "none");
};

const eventOf = (type: string, data: object): NewEvent => ({
  id: uuidv7(Date.now()),
  type,
  data,
  metadata: { actor: "system" },
});

/** Returns the credentials that `drawnAtRandom` computes for the same number. */
const credentialsOf = (n: number): [apiKey: string, apiSecret: string] => {
  const name = String(n).padStart(24, "0");
  return [`vlk_${name}`, `vls_${name}`];
};

/** The headers of the first key. */
export const authorizeFirst = (): Record<string, string> => {
  const [apiKey, apiSecret] = credentialsOf(1);
  return authorize({ id: websiteId, apiKey, apiSecret });
};

/** A wrk script that requests the path with one of the keys, drawn at random. */
export const drawnAtRandom = (path: string, keys: number): string => `
local form = "GET ${path.replaceAll("%", "%%")} HTTP/1.1\\r\\nHost: bench\\r\\n"
  .. "X-API-Key: vlk_%024d\\r\\nX-API-Secret: vls_%024d\\r\\n\\r\\n"
request = function()
  local n = math.random(${keys})
  return form:format(n, n)
end
`;
