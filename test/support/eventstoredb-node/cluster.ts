import { randomUUID } from "node:crypto";
import type { ClusterInfo } from "@eventstore/db-client/generated/gossip_pb.js";
import type { SupportedMethods } from "@eventstore/db-client/generated/serverfeatures_pb.js";
import type { Empty } from "@eventstore/db-client/generated/shared_pb.js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import type { FaultInjection } from "./fault-injection.ts";
import { featureMessages, gossipMessages, StreamsService, uuidOf } from "./protobuf.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** `Gossip.Read`: names the leader for discovery. */
export const gossip =
  (leader: () => Endpoint): handleUnaryCall<Empty, ClusterInfo> =>
  (_call, response) => {
    const { host, port } = leader();
    const member = new gossipMessages.MemberInfo()
      .setInstanceId(uuidOf(randomUUID()))
      .setTimeStamp("0")
      .setState(gossipMessages.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossipMessages.EndPoint().setAddress(host).setPort(port));
    response(null, new gossipMessages.ClusterInfo().setMembersList([member]));
  };

/** `GetSupportedMethods`: reports whether `BatchAppend` is supported. */
export const supportedMethods =
  (injection: FaultInjection, batchAppend: boolean): handleUnaryCall<Empty, SupportedMethods> =>
  (_call, response) => {
    const refusal = injection.refusalOf(false);
    if (refusal) return response(refusal);
    const services = Object.values(StreamsService).filter(
      ({ path }) => batchAppend || path !== StreamsService.batchAppend.path,
    );
    const methods = services.map(({ path }) => {
      const [, service = "", method = ""] = path.split("/");
      return new featureMessages.SupportedMethod()
        .setServiceName(service.toLowerCase())
        .setMethodName(method.toLowerCase());
    });
    const supported = new featureMessages.SupportedMethods()
      .setMethodsList(methods)
      .setEventStoreServerVersion("24.10.0");
    injection.whenAppendsContinue(() => response(null, supported));
  };
