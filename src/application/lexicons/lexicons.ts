import type { View } from "../../../projections/runner/view.ts";
import { findWebsite } from "../../../projections/websites.ts";
import {
  requireWebsite,
  type Website,
  websiteDecider,
  websiteStream,
} from "../../domain/accounts/website.ts";
import { NotFound } from "../../domain/errors.ts";
import type { LexiconRule, LexiconRules } from "../../domain/lexicons/lexicon-rules.ts";
import {
  type Lexicon,
  type Lexicons,
  lexiconsDecider,
  lexiconsStream,
  removeLexicon,
  requireLexicon,
  setLexicon,
} from "../../domain/lexicons/lexicons.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";

/** A lexicon without its rules. */
export interface LexiconSummary {
  readonly name: string;
  readonly version: number;
  /** SHA-256 of language and rules, hexadecimal. */
  readonly digest: string;
  readonly lang?: string | undefined;
  readonly ruleCount: number;
  /** The time in ISO 8601, UTC. */
  readonly setAt: string;
}

export interface LexiconDetails extends LexiconSummary {
  readonly rules: readonly LexiconRule[];
}

export type LexiconsService = ReturnType<typeof createLexicons>;

/**
 * The service of lexicons of websites. When a command resolves, its effect is visible on this
 * instance. All methods may throw {Unavailable}.
 */
export const createLexicons = ({
  execute,
  websites,
  lexicons: view,
  clock,
}: {
  readonly execute: ExecuteCommand;
  readonly websites: View<Website>;
  readonly lexicons: View<Lexicons>;
  readonly clock: () => EpochMs;
}) => {
  const now = (): string => new Date(clock()).toISOString();
  const loadWebsite = (websiteId: string, context: CommandContext): Promise<Website> =>
    execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);
  const lexiconsOf = (websiteId: string): Pick<Lexicons, "byName"> => {
    if (!findWebsite(websites, websiteId)) throw new NotFound("There is no such website.");
    return view.get(lexiconsStream(websiteId)) ?? { byName: {} };
  };

  return {
    /**
     * Replaces the whole lexicon.
     * @throws {NotFound} for an unknown website
     * @throws {Conflict} if there are too many lexicons
     */
    set: async (
      websiteId: string,
      name: string,
      lexicon: LexiconRules,
      context: CommandContext,
    ): Promise<LexiconSummary> => {
      await loadWebsite(websiteId, context);
      const set = { name, ...lexicon, at: now() };
      const stream = lexiconsStream(websiteId);
      const state = await execute(lexiconsDecider, stream, (was) => setLexicon(was, set), context);
      return summaryOf(name, requireLexicon(state, name));
    },
    /** @throws {NotFound} also when there is no such lexicon */
    remove: async (websiteId: string, name: string, context: CommandContext): Promise<void> => {
      await loadWebsite(websiteId, context);
      const stream = lexiconsStream(websiteId);
      await execute(lexiconsDecider, stream, (was) => removeLexicon(was, { name, at: now() }), context);
    },
    /** @throws {NotFound} also when there is no such lexicon */
    get: (websiteId: string, name: string): LexiconDetails => {
      const lexicon = requireLexicon(lexiconsOf(websiteId), name);
      return { ...summaryOf(name, lexicon), rules: lexicon.rules };
    },
    /**
     * Lists lexicons by name.
     * @throws {NotFound} for an unknown website
     */
    list: (websiteId: string): LexiconSummary[] =>
      Object.entries(lexiconsOf(websiteId).byName)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, lexicon]) => summaryOf(name, lexicon)),
  };
};

const summaryOf = (name: string, { version, digest, lang, rules, setAt }: Lexicon): LexiconSummary => ({
  name,
  version,
  digest,
  ...(lang !== undefined && { lang }),
  ruleCount: rules.length,
  setAt,
});
