/** The protocol definitions of the client's package, and its own copy of grpc-js. */
import { createRequire } from "node:module";
import gossip from "@eventstore/db-client/generated/gossip_grpc_pb.js";
import gossipMessages from "@eventstore/db-client/generated/gossip_pb.js";
import projections from "@eventstore/db-client/generated/projections_grpc_pb.js";
import projectionMessages from "@eventstore/db-client/generated/projections_pb.js";
import features from "@eventstore/db-client/generated/serverfeatures_grpc_pb.js";
import featureMessages from "@eventstore/db-client/generated/serverfeatures_pb.js";
import sharedMessages from "@eventstore/db-client/generated/shared_pb.js";
import statusMessages from "@eventstore/db-client/generated/status_pb.js";
import streams from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streamMessages from "@eventstore/db-client/generated/streams_pb.js";

const requireAsClient = createRequire(import.meta.resolve("@eventstore/db-client"));

export const grpc: typeof import("@grpc/grpc-js") = requireAsClient("@grpc/grpc-js");
const { Any }: typeof import("google-protobuf/google/protobuf/any_pb.js") = requireAsClient(
  "google-protobuf/google/protobuf/any_pb.js",
);
const empty: typeof import("google-protobuf/google/protobuf/empty_pb.js") = requireAsClient(
  "google-protobuf/google/protobuf/empty_pb.js",
);

const { Value: ProtobufValue }: typeof import("google-protobuf/google/protobuf/struct_pb.js") =
  requireAsClient("google-protobuf/google/protobuf/struct_pb.js");

export const { StreamsService } = streams;
export const { ProjectionsService } = projections;
export const { GossipService } = gossip;
export const { ServerFeaturesService } = features;
export {
  Any,
  featureMessages,
  gossipMessages,
  projectionMessages,
  sharedMessages,
  statusMessages,
  streamMessages,
};
export const Value = ProtobufValue;
export const GoogleEmpty = empty.Empty;

export const uuidOf = (id: string) => new sharedMessages.UUID().setString(id);
export const streamIdentifier = (name: string) =>
  new sharedMessages.StreamIdentifier().setStreamName(Buffer.from(name, "utf8"));
