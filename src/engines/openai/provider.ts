import { retirementOf } from "../../domain/accounts/model-retirements.ts";
import { byokProviders, type ProviderCredentials } from "../../domain/synthesis/byok-providers.ts";
import type { Provider } from "../provider.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import { createOpenAiEngine } from "./engine.ts";
import { listVoiceNames } from "./list-voice-names.ts";
import { voiceOf } from "./voices.ts";

interface OpenAiOptions {
  /** The base address for credentials without one, from the operator's setting. */
  readonly baseUrl: string;
  /** Exchange for that address, guarded as the operator's. */
  readonly operators: Exchange;
  /** Exchange for addresses in credentials, guarded as a website's. */
  readonly websites: Exchange;
}

/**
 * OpenAI retires this model (`model-retirements.ts`). After its retirement credentials must name a
 * model, as they must for every other server.
 */
const defaultModel = "gpt-4o-mini-tts";

/**
 * These models do not follow instructions (the API reference of `audio/speech`). All others, also
 * those of compatible servers, get instructions.
 */
const modelsWithoutInstructions: readonly string[] = ["tts-1", "tts-1-hd"];

/** OpenAI and compatible servers. */
export const openAiProvider = ({
  baseUrl,
  operators,
  websites,
}: OpenAiOptions): Provider<ProviderCredentials["oai"]> => ({
  code: "oai",
  name: byokProviders.oai.provider,
  retirement: ({ baseUrl: own = baseUrl, model = defaultModel }) => retirementOf(own, model),
  open: ({ apiKey, baseUrl: own, model = defaultModel, voices }) => {
    const exchange = own === undefined ? operators : websites;
    const server = { baseUrl: own ?? baseUrl, model, apiKey, exchange };
    const takesInstructions = !modelsWithoutInstructions.includes(model.replace(/-\d{4}$/, ""));
    const engine = createOpenAiEngine({ code: "oai", server, voices, takesInstructions });
    return {
      engine,
      listVoices: async (signal) => {
        const names = await listVoiceNames(server, { engine, given: voices }, signal);
        return names.map(voiceOf);
      },
    };
  },
});
