import { z } from "zod";
import type {
  CredentialsDetails,
  CredentialsService,
  WebsiteCredentials,
} from "../../../application/accounts/credentials.ts";
import {
  byokEngines,
  byokProviders,
  parseCredentials,
  providerNames,
} from "../../../domain/synthesis/byok-providers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { jsonRequest, pathParams, queryParams } from "../../kernel/operation.ts";
import { adminOperationOf, count, listed, noContent, ok, time, websiteId } from "./admin-operation.ts";
import { matches, pageMembers, pageOf, pageParameters, search, total } from "./paging.ts";

export const credentialsDetails = namedSchema("CredentialsDetails", {
  engine: z.enum(byokEngines),
  provider: z.string().meta({ description: `The \`provider\` of its voices: ${providerNames.join(", ")}.` }),
  voices: count.meta({ description: "The number of voices that the provider listed." }),
  setAt: time,
  retirement: z
    .object({
      model: z.string(),
      date: z.iso.date().meta({ description: "The first day without the model, UTC." }),
      replacement: z.string().meta({ description: "The model to set instead." }),
      message: z.string(),
    })
    .meta({ description: "If the provider has announced the end of the credentials' model." })
    .exactOptional(),
}) satisfies z.ZodType<CredentialsDetails>;

const websiteCredentials = namedSchema("WebsiteCredentials", {
  websiteId: z.string(),
  websiteName: z.string().exactOptional(),
  ...credentialsDetails.shape,
}) satisfies z.ZodType<WebsiteCredentials>;

const credentialsQuery = queryParams(z.object({ ...pageParameters, search }));

const params = pathParams({ id: websiteId });

const credentialOperation = adminOperationOf<{ credentials: CredentialsService }>();

/**
 * `/admin/websites/{id}/credentials`: a website's own provider accounts. Responses never contain
 * the credentials.
 */
export const credentialOperations = [
  credentialOperation({
    method: "get",
    path: "/admin/websites/{id}/credentials",
    id: "listCredentials",
    summary: "List the engines that a website has credentials for",
    params,
    responses: ok("The engines.", z.object({ credentials: z.array(credentialsDetails), count })),
    handle: async ({ credentials }, { params }) => listed("credentials", await credentials.list(params.id)),
  }),
  credentialOperation({
    method: "get",
    path: "/admin/credentials",
    id: "listAllCredentials",
    summary: "List the engines that websites have credentials for",
    query: credentialsQuery,
    responses: ok(
      "The engines, by website.",
      z.object({ credentials: z.array(websiteCredentials), total, ...pageMembers }),
    ),
    handle: async ({ credentials }, { query }) => {
      const found = (await credentials.listAll()).filter(({ websiteId, websiteName, provider }) =>
        matches(query.search, [websiteId, websiteName, provider]),
      );
      const { entries, _links } = pageOf(query, found, ({ websiteId, engine }) => `${websiteId}/${engine}`);
      return { credentials: entries, total: found.length, count: entries.length, _links };
    },
  }),
  ...byokEngines.flatMap((engine) => [
    credentialOperation({
      method: "put",
      path: `/admin/websites/{id}/credentials/${engine}`,
      id: `setCredentials_${engine}`,
      summary: `Set a website's credentials for ${byokProviders[engine].title}; its voices join the website's catalog`,
      params,
      body: jsonRequest(byokProviders[engine].credentials, byokProviders[engine].example, {
        read: (body) => parseCredentials(engine, body),
      }),
      responses: ok("The provider accepted the credentials and listed its voices.", credentialsDetails),
      handle: ({ credentials }, { params, body }, command) =>
        credentials.set(params.id, engine, body, command),
    }),
    credentialOperation({
      method: "delete",
      path: `/admin/websites/{id}/credentials/${engine}`,
      id: `removeCredentials_${engine}`,
      summary: `Remove a website's credentials for ${byokProviders[engine].title}, and its voices`,
      params,
      responses: noContent("The credentials are removed."),
      errors: [503],
      handle: ({ credentials }, { params }, command) => credentials.remove(params.id, engine, command),
    }),
  ]),
];
