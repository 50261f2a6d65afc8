import { z } from "zod";
import { planOrTier } from "../../domain/plan.ts";
import { websiteConfig } from "../../domain/website-config.ts";
import * as admin from "../admin/answers.ts";
import * as config from "../config/schemas.ts";
import { apiError, errorResponse, problem } from "../error-response.ts";
import { healthStatus } from "../health.ts";
import { AudioFormat, type RequestSchema, VoiceGender } from "../synthesis/request.ts";
import * as voices from "../voices/schemas.ts";

/** Gives each schema its name in the description: the spec's own where it has one. */
export const nameSchemas = (synthesizeRequest: RequestSchema): void => {
  for (const [id, schema] of Object.entries({ ...named, SynthesizeRequest: synthesizeRequest })) {
    tell(schema, { id });
  }
  for (const [outputId, schema] of Object.entries(twoSided))
    tell(schema, { id: `${outputId}Part`, outputId });
};

const { VoicesQuery: _, ...voiceSchemas } = voices;

const named = {
  ...voiceSchemas,
  AudioFormat,
  VoiceGender,
  AuthToken: config.AuthToken,
  VerifyOriginResponse: admin.verifiedOrigin,
  ConfigResponse: config.ConfigResponse,
  HealthStatus: healthStatus,
  ErrorResponse: errorResponse,
  ApiError: apiError,
  Problem: problem,
  Plan: admin.plan,
  PlanOrTier: planOrTier,
  WebsiteDetails: admin.websiteDetails,
  NewWebsite: admin.newWebsite,
  KeyDetails: admin.keyDetails,
  NewKey: admin.newKey,
  NewSecret: admin.newSecret,
  NewVerification: admin.newVerification,
  UsageReport: admin.usageReport,
  AuditEntry: admin.auditEntry,
};

const { features, voice } = websiteConfig.shape;

/** A whole one is an answer, any part of it a request: one schema, a name for each side of it. */
const twoSided = {
  WebsiteConfig: websiteConfig,
  WebsiteFeatures: features,
  WebPlayerFeature: features.unwrap().shape.webPlayer,
  WebsiteVoice: voice,
};

const tell = (schema: z.ZodType, names: { id: string; outputId?: string }): void => {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), ...names });
};
