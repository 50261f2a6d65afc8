import type { Context } from "koa";
import { z } from "zod";
import type { ReportOwnUsage } from "../../../application/usage/own-usage.ts";
import type { Caller } from "../../access/gate.ts";
import { noStore } from "../../caching/cache-control.ts";
import { disconnectSignal, websiteOf } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, operation } from "../../kernel/operation.ts";
import { keyWithSecret } from "../usage.ts";

const none = z.literal(0);
const no = z.literal(false);
const monthly = z.literal("monthly_period");

/** What the service does not have, such as slots for cloned voices, is 0 or false. */
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
  character_refresh_period: monthly,
  billing_period: monthly,
  max_credit_limit_extension: none,
  can_extend_character_limit: no,
  allowed_to_extend_character_limit: no,
  voice_slots_used: none,
  professional_voice_slots_used: none,
  professional_voice_slots_used_in_workspace: none,
  voice_limit: none,
  voice_add_edit_counter: none,
  professional_voice_limit: none,
  can_extend_voice_limit: no,
  can_use_instant_voice_cloning: no,
  can_use_professional_voice_cloning: no,
  current_overage: z.object({ amount: z.literal("0"), currency: z.literal("usd") }),
  has_open_invoices: no,
  open_invoices: z.array(z.never()),
});

const User = namedSchema("ElevenLabsUser", {
  user_id: z.string().meta({ description: "The website's id." }),
  workspace_id: z.string(),
  subscription: Subscription,
  seat_type: z.literal("workspace_member"),
  is_new_user: no,
  is_onboarding_completed: z.literal(true),
  is_onboarding_checklist_completed: z.literal(true),
  can_use_delayed_payment_methods: no,
  created_at: none.meta({ description: "Unknown." }),
});

/** What a key may know about its own usage, as ElevenLabs' API shows it. */
export const userOperations = ({
  reportOwnUsage,
}: {
  readonly reportOwnUsage: ReportOwnUsage;
}): Operation[] => {
  const subscriptionOf = async (ctx: Context): Promise<z.output<typeof Subscription>> => {
    const { principal }: Caller = ctx.state.caller;
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
      open_invoices: [],
    };
  };
  const common = {
    method: "get",
    tag: "ElevenLabs",
    auth: "website, even suspended",
    description: "Only with the key's secret. Suspended keys may read it.",
    cache: [noStore],
    errors: [403, 503],
  } as const;

  return [
    operation({
      ...common,
      path: "/elevenlabs/v1/user/subscription",
      id: "elevenLabsSubscription",
      summary: "Read the key's characters in this month, its limit, and when they are reset",
      responses: { 200: { description: "The subscription.", content: json(Subscription) } },
      handle: (_, ctx) => subscriptionOf(ctx),
    }),
    operation({
      ...common,
      path: "/elevenlabs/v1/user",
      id: "elevenLabsUser",
      summary: "Read about the website, with the key's subscription",
      responses: { 200: { description: "The website.", content: json(User) } },
      handle: async (_, ctx): Promise<z.output<typeof User>> => ({
        user_id: websiteOf(ctx),
        workspace_id: websiteOf(ctx),
        subscription: await subscriptionOf(ctx),
        seat_type: "workspace_member",
        is_new_user: false,
        is_onboarding_completed: true,
        is_onboarding_checklist_completed: true,
        can_use_delayed_payment_methods: false,
        created_at: 0,
      }),
    }),
  ];
};

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
  current_overage: { amount: "0", currency: "usd" },
  has_open_invoices: false,
} as const;
