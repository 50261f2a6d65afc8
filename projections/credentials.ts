import {
  type Credentials,
  type CredentialsEvent,
  credentialsStream,
  evolveCredentials,
  initialCredentials,
} from "../src/domain/accounts/credentials.ts";
import type { Projection } from "./projection.ts";

/** Each website's sealed credentials and the voices that they give access to. Partition: `credentials-{websiteId}`. */
export const credentials: Projection<Credentials> = {
  name: "credentials",
  version: 1,
  prefixes: [credentialsStream("")],
  partition: ({ stream }) => stream,
  initial: initialCredentials,
  apply: (state, { type, data }) => evolveCredentials(state, { type, data } as CredentialsEvent),
};
