import { z } from "zod";
import type { View } from "../../../projections/runner/view.ts";
import { allWebsites, findKnownWebsite, findWebsite, shownName } from "../../../projections/websites.ts";
import { isEncrypted } from "../../domain/accounts/data-key.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import { planOrTier } from "../../domain/accounts/plan-request.ts";
import {
  changeOrigins,
  configureWebsite,
  type ErasedWebsite,
  origins as originList,
  type RegisteredWebsite,
  registerWebsite,
  renameWebsite,
  requireRegistered,
  type Website,
  type WebsiteEvent,
  websiteDecider,
  websiteName,
  websiteStream,
} from "../../domain/accounts/website.ts";
import {
  completeConfig,
  type StoredConfig,
  type WebsiteConfig,
} from "../../domain/accounts/website-config.ts";
import { NotFound } from "../../domain/errors.ts";
import type { TextFormat } from "../../domain/synthesis/speech.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { newWebsiteId, type Random } from "./identifiers.ts";
import type { Keys, NewSecret } from "./keys.ts";

/** A website. Times are ISO 8601, UTC. */
export interface WebsiteDetails {
  readonly id: string;
  readonly name: string;
  readonly origins: readonly string[];
  /** The stored part of the configuration. */
  readonly storedConfig: StoredConfig;
  /** The stored part with defaults. */
  readonly config: WebsiteConfig;
  readonly registeredAt: string;
  /** Present if the website was erased: its name, origins and configuration are forgotten. */
  readonly erasedAt?: string;
  /**
   * Present if no key of this process decrypts the name or some origins, which are not listed.
   */
  readonly lost?: readonly ("name" | "origins")[];
}

export interface NewWebsite extends NewSecret {
  readonly id: string;
  readonly name: string;
  readonly origins: readonly string[];
  readonly apiKey: string;
  readonly plan: Plan;
}

/** The body of a registration: `{name, origins?, plan?}`. */
export const registration = z.strictObject({
  name: websiteName,
  origins: originList.default([]),
  plan: planOrTier,
});
type Registration = z.output<typeof registration>;

export const newName = z.strictObject({ name: websiteName });
export const newOrigins = z.strictObject({ origins: originList });

interface WebsitesOptions {
  readonly execute: ExecuteCommand;
  readonly websites: View<Website>;
  readonly keys: Pick<Keys, "issue">;
  readonly clock: () => EpochMs;
  readonly random: Random;
}

export type Websites = ReturnType<typeof createWebsites>;

/**
 * Creates the service of websites. The effect of a command is visible on this instance when the
 * command resolves. All commands may throw {Unavailable}.
 */
export const createWebsites = ({ execute, websites, keys, clock, random }: WebsitesOptions) => {
  const now = (): string => new Date(clock()).toISOString();

  const command = async (
    id: string,
    decide: (website: Website) => WebsiteEvent[],
    context: CommandContext,
  ): Promise<WebsiteDetails> =>
    details(requireRegistered(await execute(websiteDecider, websiteStream(id), decide, context)));

  return {
    /**
     * Registers a website with its first key and secret. A failure in between leaves a website
     * without a key; `Keys.issue` adds one.
     */
    register: async ({ name, origins, plan }: Registration, context: CommandContext): Promise<NewWebsite> => {
      const id = newWebsiteId(random);
      const registration = { websiteId: id, name, origins, at: now() };
      await command(id, (website) => registerWebsite(website, registration), context);
      const { apiKey, apiSecret, secretId } = await keys.issue(id, plan, context);
      return { id, name, origins, apiKey, apiSecret, secretId, plan };
    },
    /**
     * Replaces the stored part of the configuration.
     * @throws {NotFound}
     */
    configure: (id: string, config: StoredConfig, context: CommandContext): Promise<WebsiteDetails> =>
      command(id, (website) => configureWebsite(website, { config, at: now() }), context),
    /** @throws {NotFound} */
    rename: (id: string, name: string, context: CommandContext): Promise<WebsiteDetails> =>
      command(id, (website) => renameWebsite(website, { name, at: now() }), context),
    /**
     * Replaces all origins.
     * @throws {NotFound}
     */
    setOrigins: (id: string, origins: readonly string[], context: CommandContext): Promise<WebsiteDetails> =>
      command(id, (website) => changeOrigins(website, { origins, at: now() }), context),
    /** @throws {NotFound} */
    get: (id: string): WebsiteDetails => {
      const website = findKnownWebsite(websites, id);
      if (!website) throw new NotFound("There is no such website.");
      return details(website);
    },
    /** The text format that the website has set for compatible APIs. */
    textFormatOf: (id: string): TextFormat | undefined => findWebsite(websites, id)?.config.textFormat,
    /** All websites, the oldest first. */
    list: (): WebsiteDetails[] => allWebsites(websites).map(details),
  };
};

const details = (website: RegisteredWebsite | ErasedWebsite): WebsiteDetails => {
  const { websiteId: id, registeredAt } = website;
  const name = shownName(website);
  if (website.status === "erased") {
    const { erasedAt } = website;
    const forgotten = { name, origins: [], storedConfig: {}, config: completeConfig({}) };
    return { id, ...forgotten, registeredAt, erasedAt };
  }
  const { config } = website;
  const origins = website.origins.filter((origin) => !isEncrypted(origin));
  const lost = [
    ...(isEncrypted(website.name) ? (["name"] as const) : []),
    ...(origins.length < website.origins.length ? (["origins"] as const) : []),
  ];
  const stored = { storedConfig: config, config: completeConfig(config), registeredAt };
  return { id, name, origins, ...stored, ...(lost.length > 0 && { lost }) };
};
