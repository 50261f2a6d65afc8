import type { Credentials } from "../support/client.ts";
import { goodCredentials } from "../support/wire/providers.ts";

/** A call of the admin API that must succeed. Resolves with the body of its response. */
type CallAdmin = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

/** Makes changes of each kind that operators can make, so that the log has their events. */
export const makeOperatorChanges = async (
  call: CallAdmin,
  { shop, audioHash, receiverUrl }: { shop: Credentials; audioHash: string; receiverUrl: string },
): Promise<void> => {
  await call("POST", "/voices", { name: "Klaus", flag: "de", gender: "m", lang: "de-DE", voiceIDs: [301] });
  await call("PATCH", "/voices/Klaus", { flag: "at" });
  await call("DELETE", "/voices/Klaus");
  const whisperer = {
    name: "g1-de-whisper",
    lang: "de-DE",
    service: "g1",
    voiceName: "espeak:gmw/de+whisper",
  };
  const { id } = await call("POST", "/system-voices", whisperer);
  await call("DELETE", `/system-voices/${id}`);

  const ofShop = `/websites/${shop.id}`;
  const rules = [{ grapheme: "W3C", alias: "the consortium" }];
  await call("PUT", `${ofShop}/lexicons/former`, { lang: "en", rules });
  await call("DELETE", `${ofShop}/lexicons/former`);
  await call("PUT", `${ofShop}/credentials/gwn`, goodCredentials.gwn);
  await call("DELETE", `${ofShop}/credentials/gwn`);
  await call("POST", `${ofShop}/verifications`, { origin: "https://shop.example:8443" });

  const { apiKey } = await call("POST", `${ofShop}/keys`, {});
  await call("POST", `/keys/${apiKey}/suspend`, { reason: "a mistake" });
  await call("POST", `/keys/${apiKey}/reinstate`);

  const { webhookId } = await call("POST", "/webhooks", { url: `${receiverUrl}/other` });
  await call("POST", `/webhooks/${webhookId}/secrets`);
  await call("PATCH", `/webhooks/${webhookId}`, { events: ["key.suspended"] });
  await call("PATCH", `/webhooks/${webhookId}`, { enabled: false });
  await call("PATCH", `/webhooks/${webhookId}`, { enabled: true });
  await call("DELETE", `/webhooks/${webhookId}`);

  await call("DELETE", `/audio/${audioHash}`);
};
