import { credentialsDecider, credentialsStream } from "../src/domain/accounts/credentials.ts";
import { streamProjection } from "./projection.ts";

/**
 * Each website's encrypted credentials and the voices that they give access to. Partition:
 * `credentials-{websiteId}`.
 */
export const credentials = streamProjection("credentials", 1, credentialsStream(""), credentialsDecider);
