import { z } from "zod";
import {
  azureCredentials,
  googleCredentials,
  openAiCredentials,
} from "../../domain/accounts/byok-providers.ts";
import { planOrTier } from "../../domain/accounts/plan.ts";
import { websiteConfig } from "../../domain/accounts/website-config.ts";
import { apiError, errorResponse, problem } from "../kernel/error-response.ts";
import * as admin from "../routes/admin/answers.ts";
import * as config from "../routes/config/schemas.ts";
import { healthStatus, liveness, readinessStatus } from "../routes/health/health.ts";
import { AudioFormat, type RequestSchema, VoiceGender } from "../routes/synthesis/request.ts";
import * as voices from "../routes/voices/schemas.ts";
import * as stream from "../websocket/messages.ts";

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
  SynthesizeMessage: stream.synthesizeMessage,
  CancelMessage: stream.cancelMessage,
  PingMessage: stream.pingMessage,
  StreamStartMessage: stream.streamStart,
  StreamEndMessage: stream.streamEnd,
  StreamErrorMessage: stream.streamError,
  PongMessage: stream.pong,
  StreamMessage: stream.streamMessage,
  AudioFormat,
  VoiceGender,
  AuthToken: config.AuthToken,
  VerifyOriginResponse: admin.verifiedOrigin,
  ConfigResponse: config.ConfigResponse,
  HealthStatus: healthStatus,
  Liveness: liveness,
  Readiness: readinessStatus,
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
  CredentialsDetails: admin.credentialsDetails,
  GoogleCredentials: googleCredentials,
  AzureCredentials: azureCredentials,
  OpenAiCredentials: openAiCredentials,
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
