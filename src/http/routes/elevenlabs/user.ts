import type { Context } from "koa";
import { z } from "zod";
import type { ReportOwnUsage } from "../../../ledger/reports/own-usage.ts";
import { noStore } from "../../caching/cache-control.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { literals, namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, operationsWith } from "../../kernel/operation.ts";
import { callerIn, websiteOf } from "../../kernel/request-state.ts";
import { keyWithSecret } from "../usage.ts";

/** Features that the service does not have, such as slots for cloned voices, are 0 or false. */
const constant = {
  character_refresh_period: "monthly_period",
  billing_period: "monthly_period",
  max_credit_limit_extension: 0,
  can_extend_character_limit: false,
  allowed_to_extend_character_limit: false,
  voice_slots_used: 0,
  professional_voice_slots_used: 0,
  professional_voice_slots_used_in_workspace: 0,
  voice_limit: 0,
  voice_add_edit_counter: 0,
  professional_voice_limit: 0,
  can_extend_voice_limit: false,
  can_use_instant_voice_cloning: false,
  can_use_professional_voice_cloning: false,
} as const;

const noOverage = { amount: "0", currency: "usd" } as const;

const member = {
  seat_type: "workspace_member",
  is_new_user: false,
  is_onboarding_completed: true,
  is_onboarding_checklist_completed: true,
  can_use_delayed_payment_methods: false,
} as const;

const Subscription = namedSchema("ElevenLabsSubscription", {
  tier: z.string(),
  status: z.enum(["active", "free_disabled"]).meta({ description: "`free_disabled`: the key is suspended." }),
  character_count: z
    .int()
    .meta({ description: "The characters that the key was charged in this month (UTC)." }),
  character_limit: z
    .int()
    .meta({ description: "The plan's characters per month; 9007199254740991 if it has no limit." }),
  next_character_count_reset_unix: z.int().meta({ description: "The end of the month." }),
  ...literals(constant),
  current_overage: z.object(literals(noOverage)),
  has_open_invoices: z.literal(false),
  open_invoices: z.array(z.never()),
});

const User = namedSchema("ElevenLabsUser", {
  user_id: z.string().meta({ description: "The website's id." }),
  workspace_id: z.string(),
  subscription: Subscription,
  ...literals(member),
  created_at: z.literal(0).meta({ description: "Unknown." }),
});

const userOperation = operationsWith({
  method: "get",
  tag: "ElevenLabs",
  auth: "website, even suspended",
  description: "Only with the key's secret. Suspended keys may read it.",
  cache: [noStore],
  errors: [403, 503],
});

/** These operations show a key its own usage, in the form of ElevenLabs' API. */
export const elevenLabsUserOperations = ({
  reportOwnUsage,
}: {
  readonly reportOwnUsage: ReportOwnUsage;
}): Operation[] => {
  const subscriptionOf = async (ctx: Context): Promise<z.output<typeof Subscription>> => {
    const { principal } = callerIn(ctx.state);
    const { used, limit, reset } = await reportOwnUsage({
      apiKey: keyWithSecret(ctx),
      signal: disconnectSignal(ctx),
    });
    return {
      tier: principal.plan.tier,
      status: principal.suspension ? "free_disabled" : "active",
      character_count: used,
      character_limit: limit ?? Number.MAX_SAFE_INTEGER,
      next_character_count_reset_unix: Date.parse(reset) / 1000,
      ...constant,
      current_overage: noOverage,
      has_open_invoices: false,
      open_invoices: [],
    };
  };

  return [
    userOperation({
      path: "/elevenlabs/v1/user/subscription",
      id: "elevenLabsSubscription",
      summary: "Read the key's characters in this month, its limit, and when they are reset",
      responses: { 200: { description: "The subscription.", content: json(Subscription) } },
      handle: (_, ctx) => subscriptionOf(ctx),
    }),
    userOperation({
      path: "/elevenlabs/v1/user",
      id: "elevenLabsUser",
      summary: "Read about the website, with the key's subscription",
      responses: { 200: { description: "The website.", content: json(User) } },
      handle: async (_, ctx): Promise<z.output<typeof User>> => ({
        user_id: websiteOf(ctx),
        workspace_id: websiteOf(ctx),
        subscription: await subscriptionOf(ctx),
        ...member,
        created_at: 0,
      }),
    }),
  ];
};
